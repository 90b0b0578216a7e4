"""Sessions of other languages: a shell and a JavaScript program that run the cells of their language, beside the Python namespace.

Each is a child of the kernel with the kernel's limits. Its standard output and error are the kernel's own descriptors, which the supervisor
reads live. Cells and answers travel over two pipes, as fields that end with a null byte.
"""

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile

from ..config import DATA_DIR

LANGUAGES = ("bash", "javascript", "typescript")
_PROGRAMS = {"bash": "bash", "javascript": "node", "typescript": "node"}
_NODE_SESSION = os.path.join(os.path.dirname(__file__), "node_session.cjs")
_CELL_FD, _ANSWER_FD = 3, 4
_READ_BYTES = 64 * 1024
_MAX_ANSWER_BYTES = 4 * 1024 * 1024
# From the interrupt of a cell to the end of its session, seconds.
_INTERRUPT_GRACE_SECONDS = 0.2
# Evaluates each cell in the shell itself, so that variables, functions and the folder stay. `exit` ends the session.
_SHELL_LOOP = r"""
shopt -s expand_aliases
while IFS= read -r -d '' -u 3 __before && IFS= read -r -d '' -u 3 __cell && IFS= read -r -d '' -u 3 __after; do
  eval "$__before"
  eval "$__cell" 3<&- 4>&-
  __status=$?
  eval "$__after"
  printf '%s\0' "$__status" >&4
done
"""
# What of a shell outlives it: variables but for its own, functions, aliases, options, the folder.
_SHELL_STATE = r"""
{
  declare -p | grep -vE '^declare -[a-zA-Z-]*r[a-zA-Z-]* |^declare -[^ ]+ (BASH[A-Z_0-9]*|__before|__cell|__after|__status|PPID|SHLVL|_|DIRSTACK|FUNCNAME|GROUPS|PIPESTATUS|EPOCH[A-Z]*|RANDOM|SRANDOM|SECONDS|LINENO|OPTIND|COMP_WORDBREAKS|HISTCMD)(=|$)'
  declare -f; alias -p; shopt -p; printf 'cd -- %q\n' "$PWD"
} > "$__state_file" 2>/dev/null
"""


class SessionError(Exception):
    """A cell failed. `name` and `value` are shown as those of an exception."""

    def __init__(self, name: str, value: str, traceback: list[str] | None = None) -> None:
        super().__init__(value)
        self.name = name
        self.value = value
        self.traceback = traceback or [f"{name}: {value}"]


class _Session:
    """One child and its two pipes."""

    def __init__(self, argv: list[str]) -> None:
        cells_read, self._cells = os.pipe2(os.O_CLOEXEC)
        self._answers, answers_write = os.pipe2(os.O_CLOEXEC)
        self._rest = bytearray()

        def place() -> None:
            # Above every number that is replaced, so that neither overwrites the other.
            ends = os.dup(cells_read), os.dup(answers_write)
            os.dup2(ends[0], _CELL_FD)
            os.dup2(ends[1], _ANSWER_FD)

        try:
            # Closing other descriptors is the program's part: `pass_fds` would close the two again.
            self._process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=1, stderr=2, close_fds=False, preexec_fn=place, process_group=0
            )
        finally:
            os.close(cells_read)
            os.close(answers_write)

    def ask(self, fields: list[str]) -> str:
        """Sends a cell and waits for its answer. Raises EOFError when the session ended."""
        data = b"".join(field.replace("\0", "").encode("utf-8", "replace") + b"\0" for field in fields)
        try:
            while data:
                data = data[os.write(self._cells, data) :]
        except BrokenPipeError:
            raise EOFError from None
        while (end := self._rest.find(b"\0")) < 0:
            piece = os.read(self._answers, _READ_BYTES)
            if not piece or len(self._rest) > _MAX_ANSWER_BYTES:
                raise EOFError
            self._rest += piece
        answer = bytes(self._rest[:end]).decode("utf-8", "replace")
        del self._rest[: end + 1]
        return answer

    def interrupt(self) -> None:
        """A program that does not answer an interrupt ends with everything that it started."""
        self._signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_INTERRUPT_GRACE_SECONDS)

    def end(self) -> int:
        """Returns the exit code."""
        self._signal(signal.SIGKILL)
        code = self._process.wait()
        for fd in (self._cells, self._answers):
            with contextlib.suppress(OSError):
                os.close(fd)
        return code

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


class LanguageSessions:
    """The sessions of one kernel, each started by the first cell of its language."""

    def __init__(self) -> None:
        self._sessions: dict[str, _Session] = {}

    def run(self, language: str, code: str, env: dict[str, str] | None, cwd: str | None) -> str | None:
        """Runs a cell; returns the text of its last value. Raises SessionError."""
        if language == "bash":
            self._ask("bash", [_shell_scope(env, cwd), code, _shell_scope_end(env, cwd)])
            return None
        answer = json.loads(self._ask("javascript", [json.dumps(env or {}), cwd or "", language, code]))
        error = answer.get("error")
        if error is not None:
            raise SessionError(error["name"], error["value"], error["traceback"])
        return answer["result"]

    def save_shell(self) -> str | None:
        """Text that makes a new shell continue where this one stopped; None without a shell."""
        session = self._sessions.get("bash")
        if session is None:
            return None
        with tempfile.NamedTemporaryFile("r", encoding="utf-8", errors="replace") as file:
            session.ask([f"__state_file={shlex.quote(file.name)}", _SHELL_STATE, "unset __state_file"])
            return file.read()

    def restore_shell(self, state: str) -> None:
        self._ask("bash", ["", state, ""])

    @property
    def has_javascript(self) -> bool:
        return "javascript" in self._sessions

    def _ask(self, language: str, fields: list[str]) -> str:
        session = self._sessions.get(language)
        if session is None:
            session = self._sessions[language] = _Session(_argv(language))
        try:
            answer = session.ask(fields)
        except KeyboardInterrupt:
            session.interrupt()
            session.end()
            del self._sessions[language]
            raise SessionError("KeyboardInterrupt", f"The {language} session was interrupted and ended; its variables are lost.") from None
        except EOFError:
            code = session.end()
            del self._sessions[language]
            raise SessionError("SessionEnded", f"The {language} session ended with code {code}; its variables are lost.") from None
        if language == "bash" and answer != "0":
            raise SessionError("ExitStatus", f"exit status {answer}")
        return answer


def _argv(language: str) -> list[str]:
    program = shutil.which(_PROGRAMS[language])
    if program is None:
        raise SessionError("LanguageMissing", f"This image has no {language}. Create a container with the image standard or full.")
    if language == "bash":
        return [program, "--noprofile", "--norc", "-c", _SHELL_LOOP, "bash"]
    return [program, "--no-warnings", "--expose-internals", _NODE_SESSION]


def _shell_scope(env: dict[str, str] | None, cwd: str | None) -> str:
    lines = []
    for name in env or {}:
        if name.isidentifier():
            lines.append(f"__had_{name}=${{{name}+x}} __was_{name}=${{{name}-}}; export {name}={shlex.quote(env[name])}")
    if cwd is not None:
        lines.append(f"__folder=$PWD; cd -- {shlex.quote(os.path.join(DATA_DIR, cwd))}")
    return "\n".join(lines)


def _shell_scope_end(env: dict[str, str] | None, cwd: str | None) -> str:
    lines = [
        f'if [ -n "$__had_{name}" ]; then export {name}="$__was_{name}"; else unset {name}; fi; unset __had_{name} __was_{name}'
        for name in env or {}
        if name.isidentifier()
    ]
    if cwd is not None:
        lines.append('cd -- "$__folder"; unset __folder')
    return "\n".join(lines)
