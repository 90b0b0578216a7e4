"""The state of a shell that outlives it, the names of what is lost, and the variables and the folder of one cell."""

import contextlib
import os
import shlex

from ...config import DATA_DIR

# Variables except those of bash, functions, aliases, options, the folder, the mask of new files, traps, positional parameters.
# Constants come last, because nothing can change them later.
SAVE = r"""
{
  declare -p | grep -vE '^declare -[a-zA-Z-]*r[a-zA-Z-]* |^declare -[^ ]+ (BASH[A-Z_0-9]*|__before|__cell|__after|__status|PPID|SHLVL|_|DIRSTACK|FUNCNAME|GROUPS|PIPESTATUS|EPOCH[A-Z]*|RANDOM|SRANDOM|SECONDS|LINENO|OPTIND|COMP_WORDBREAKS|HISTCMD)(=|$)'
  declare -f; alias -p; shopt -p; printf 'mkdir -p -- %q; cd -- %q\n' "$PWD" "$PWD"; umask -p; set +o; trap -p
  printf 'set --'; if [ $# -gt 0 ]; then printf ' %q' "$@"; fi; echo
  readonly -p | grep -vE '^declare -[a-zA-Z]+ (BASHOPTS|BASH_VERSINFO|EUID|PPID|SHELLOPTS|UID)(=|$)'
  echo true
} > "$__state_file" 2>/dev/null
"""

# The shell keeps its folder itself; where HOME names the folder of the files, so does the shell.
_OWN = "PWD"
_NAMED_HOME = "/home/user"
_MAX_NAMED = 20
_MAX_TARGET_CHARACTERS = 200


def open_descriptors(pid: int) -> dict[int, str]:
    """What each descriptor of a program refers to; empty when the program has ended."""
    found = {}
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError, ValueError):
                found[int(name)] = os.readlink(f"/proc/{pid}/fd/{name}")
    return found


def named_descriptors(before: dict[int, str], now: dict[int, str]) -> list[tuple[str, str]]:
    opened = [(number, target) for number, target in sorted(now.items()) if before.get(number) != target][:_MAX_NAMED]
    return [
        (f"bash descriptor {number}", f"An open descriptor cannot be saved. Open it again: exec {number}<>{target[:_MAX_TARGET_CHARACTERS]}")
        for number, target in opened
    ]


def redirection(pid: int, outputs: dict[int, int]) -> str | None:
    """A line about an output that an earlier cell sent to a file or a device; None while the outputs are shown or piped. `outputs` are the shown ones."""
    for number, fd in outputs.items():
        with contextlib.suppress(OSError):
            target = os.readlink(f"/proc/{pid}/fd/{number}")
            if target != os.readlink(f"/proc/self/fd/{fd}") and not target.startswith("pipe:"):
                where = target[:_MAX_TARGET_CHARACTERS]
                return f"Descriptor {number} of the bash session leads to {where} since an earlier cell, so it is not shown. Undo: exec {number}>/proc/$PPID/fd/{number}"
    return None


def scope(env: dict[str, str] | None, cwd: str | None) -> str:
    """Commands before a cell."""
    lines = []
    for name in env or {}:
        if name.isidentifier() and name != _OWN:
            lines.append(f"__had_{name}=${{{name}+x}} __was_{name}=${{{name}-}}; export {name}={shlex.quote(env[name])}")
    if cwd is not None:
        lines.append(f"__folder=$PWD; cd -- {shlex.quote(os.path.join(DATA_DIR, cwd))}")
    elif env and env.get("HOME") == _NAMED_HOME:
        lines.append(f'case $PWD/ in {DATA_DIR}/*) cd -- "$HOME${{PWD#{DATA_DIR}}}";; esac')
    return "\n".join(lines)


def scope_end(env: dict[str, str] | None, cwd: str | None) -> str:
    """Commands after a cell."""
    lines = [
        f'if [ -n "$__had_{name}" ]; then export {name}="$__was_{name}"; else unset {name}; fi; unset __had_{name} __was_{name}'
        for name in env or {}
        if name.isidentifier() and name != _OWN
    ]
    if cwd is not None:
        lines.append('cd -- "$__folder"; unset __folder')
    return "\n".join(lines)
