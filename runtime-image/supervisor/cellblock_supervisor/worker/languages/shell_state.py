"""The state of a shell that outlives it, and the names of what is lost."""

import contextlib
import os

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
