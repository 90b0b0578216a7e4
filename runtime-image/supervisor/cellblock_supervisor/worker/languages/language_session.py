"""Sessions of other languages: a shell, a JavaScript program and an R program that run the cells of their language, beside the Python namespace.

Each is a child of the kernel with the kernel's limits. Its standard output and error are the kernel's own pipes, which the supervisor reads live,
by open file descriptions that only the session has. Cells and answers travel over two pipes. An answer ends with a null byte.
"""

import contextlib
import dataclasses
import fcntl
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
from collections.abc import Callable

from ..channel.output_pipes import OUTPUTS, another_description
from . import r_session, shell_state

_PROGRAMS = {"bash": "bash", "javascript": "node", "r": r_session.PROGRAM}
_NODE_SESSION = os.path.join(os.path.dirname(__file__), "node_session.cjs")
_CELL_FD, _ANSWER_FD = 3, 4
_READ_BYTES = 64 * 1024
_MAX_ANSWER_BYTES = 4 * 1024 * 1024
# In place of a language: the session draws its random numbers from the system from then on.
_RENEW_RANDOM = "renew random"
# Time between the interrupt of a cell and the end of its session.
_INTERRUPT_GRACE_SECONDS = 0.2
# Evaluates each cell in the shell itself, so that variables, functions and the folder stay. `exit` ends the session.
# It is one line, because messages about a cell count lines from the one that evaluates it.
_SHELL_LOOP = " ".join(
    r"""
while IFS= read -r -d '' -u 3 __before && IFS= read -r -d '' -u 3 __cell && IFS= read -r -d '' -u 3 __after; do
  eval "$__before";
  eval "$__cell" 3<&- 4>&-;
  __status=$?;
  eval "$__after";
  printf '%s\0' "$__status" >&4;
done
""".split()
)


@dataclasses.dataclass(frozen=True)
class CellResult:
    """What a cell shows beside its output."""

    text: str | None = None
    # Further forms of the result, by MIME type.
    data: dict[str, object] = dataclasses.field(default_factory=dict)
    # PNG.
    pictures: tuple[bytes, ...] = ()
    # A line for standard error.
    notice: str | None = None


class SessionError(Exception):
    """A cell failed. `name` and `value` are shown as those of an exception."""

    def __init__(self, name: str, value: str, traceback: list[str] | None = None) -> None:
        super().__init__(value)
        self.name = name
        self.value = value
        self.traceback = traceback or [f"{name}: {value}"]
        # PNG images of the plots before the failure.
        self.pictures: tuple[bytes, ...] = ()


class _CleanExit(SessionError):
    """The cell ended its session with code 0, which is a success, as `sys.exit(0)` is in Python."""

    def __init__(self, language: str) -> None:
        super().__init__("SessionEnded", f"The {language} session ended with code 0; its variables are lost. The next {language} cell starts another one.")


class _Session:
    """One child and its two pipes."""

    def __init__(self, argv: list[str]) -> None:
        cells_read, self._cells = os.pipe2(os.O_CLOEXEC)
        self._answers, answers_write = os.pipe2(os.O_CLOEXEC)
        self._rest = bytearray()
        self.outputs = {number: another_description(number) for number in OUTPUTS}

        def place() -> None:
            # First: their numbers may be among those that are replaced below.
            for number, fd in self.outputs.items():
                os.dup2(fd, number)
            # Above every number that is replaced, so that neither overwrites the other.
            ends = os.dup(cells_read), os.dup(answers_write)
            os.dup2(ends[0], _CELL_FD)
            os.dup2(ends[1], _ANSWER_FD)
            # The kernel ignores it between cells, and programs inherit that.
            signal.signal(signal.SIGINT, signal.SIG_DFL)

        try:
            # Closing other descriptors is the program's part: `pass_fds` would close the two again.
            self._process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=1, stderr=2, close_fds=False, preexec_fn=place, process_group=0
            )
        finally:
            os.close(cells_read)
            os.close(answers_write)
        self._first_descriptors = shell_state.open_descriptors(self.pid)

    @property
    def pid(self) -> int:
        return self._process.pid

    def new_descriptors(self) -> list[tuple[str, str]]:
        return shell_state.named_descriptors(self._first_descriptors, shell_state.open_descriptors(self.pid))

    def ask(self, data: bytes) -> str:
        """Sends a cell and waits for its answer. Raises EOFError when the session ended, BrokenPipeError when it had ended before the cell."""
        for fd in self.outputs.values():
            # A program that an earlier cell left running shares them.
            os.set_blocking(fd, True)
        while data:
            data = data[os.write(self._cells, data) :]
        while (end := self._rest.find(b"\0")) < 0:
            piece = os.read(self._answers, _READ_BYTES)
            if not piece or len(self._rest) > _MAX_ANSWER_BYTES:
                raise EOFError
            self._rest += piece
        answer = bytes(self._rest[:end]).decode("utf-8", "replace")
        del self._rest[: end + 1]
        return answer

    @property
    def has_unread_cell(self) -> bool:
        """True if the program ended before it had read its last cell, which therefore did not run."""
        return int.from_bytes(fcntl.ioctl(self._cells, termios.FIONREAD, bytes(4)), sys.byteorder) > 0

    def interrupt(self) -> None:
        """A program that does not answer an interrupt ends with everything that it started."""
        self._signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_INTERRUPT_GRACE_SECONDS)

    def end(self) -> int:
        """Returns the exit code."""
        self._signal(signal.SIGKILL)
        code = self._process.wait()
        for fd in (self._cells, self._answers, *self.outputs.values()):
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

    def run(self, language: str, code: str, env: dict[str, str] | None, cwd: str | None) -> CellResult:
        """Runs a cell. Raises SessionError."""
        try:
            return self._run(language, code, env, cwd)
        except _CleanExit as ended:
            return CellResult(pictures=ended.pictures, notice=ended.value)

    def _run(self, language: str, code: str, env: dict[str, str] | None, cwd: str | None) -> CellResult:
        if language == "bash":
            session = self._sessions.get("bash")
            notice = None if session is None else shell_state.redirection(session.pid, session.outputs)
            self._ask_shell([shell_state.scope(env, cwd), code, shell_state.scope_end(env, cwd)])
            return CellResult(notice=notice)
        if language == "r":
            return self._run_r(code, env, cwd)
        answer = json.loads(self._ask("javascript", _null_ended([json.dumps(env or {}), cwd or "", language, code])))
        error = answer.get("error")
        if error is not None:
            raise SessionError(error["name"], error["value"], error["traceback"])
        return CellResult(answer["result"])

    @property
    def pids(self) -> frozenset[int]:
        return frozenset(session.pid for session in self._sessions.values())

    def renew_random(self) -> None:
        """Gives the sessions other random states. One that does not answer as expected has ended; its next cell says so."""
        seed = int.from_bytes(os.urandom(4)) >> 1
        renewals: dict[str, Callable[[], object]] = {
            "bash": lambda: self._ask_shell(["", f"RANDOM={seed}", ""]),
            "javascript": lambda: self._ask("javascript", _null_ended(["{}", "", _RENEW_RANDOM, ""])),
            "r": lambda: self._run_r(f"base::set.seed({seed}L)", None, None),
        }
        for language in list(self._sessions):
            with contextlib.suppress(SessionError):
                renewals[language]()

    def unsaved_of_shell(self) -> list[tuple[str, str]]:
        session = self._sessions.get("bash")
        return [] if session is None else session.new_descriptors()

    def save_shell(self) -> str | None:
        """Text that makes a new shell continue where this one stopped; None without a shell."""
        session = self._sessions.get("bash")
        if session is None:
            return None
        with tempfile.NamedTemporaryFile("r", encoding="utf-8", errors="replace") as file:
            session.ask(_null_ended([f"__state_file={shlex.quote(file.name)}", shell_state.SAVE, "unset __state_file"]))
            return file.read()

    def restore_shell(self, state: str) -> None:
        self._ask_shell(["", state, ""])

    def save_r(self, max_bytes: int) -> tuple[bytes, list[tuple[str, str]]] | None:
        """The state of the R session, and the variables that it lacks with the reason; None without a session."""
        if "r" not in self._sessions:
            return None
        with tempfile.NamedTemporaryFile("rb") as file:
            left_out = self._ask_r(r_session.request("save", file.name, str(max_bytes)))
            return file.read(), list(zip(left_out[::2], left_out[1::2], strict=True))

    def restore_r(self, state: bytes) -> list[str]:
        """Returns the names of packages and variables that could not be restored."""
        with tempfile.NamedTemporaryFile("wb") as file:
            file.write(state)
            file.flush()
            return self._ask_r(r_session.request("load", file.name))

    @property
    def has_javascript(self) -> bool:
        return "javascript" in self._sessions

    def _run_r(self, code: str, env: dict[str, str] | None, cwd: str | None) -> CellResult:
        with tempfile.TemporaryDirectory(prefix=".plots-") as folder:
            try:
                text, *frame = self._fields_of_r(r_session.cell(code, env, cwd or "", folder))
            except SessionError as error:
                error.pictures = tuple(r_session.read_pictures(folder))
                raise
            return CellResult(text or None, r_session.frame_data(*frame), tuple(r_session.read_pictures(folder)))

    def _ask_r(self, data: bytes) -> list[str]:
        fields = self._fields_of_r(data)
        return [line for field in fields for line in field.split("\n")] if any(fields) else []

    def _fields_of_r(self, data: bytes) -> list[str]:
        kind, fields = r_session.fields_of(self._ask("r", data))
        if kind != "error":
            return fields
        name, value, *lines = fields
        raise SessionError(name, value, [line for field in lines for line in field.split("\n") if line])

    def _ask_shell(self, fields: list[str]) -> None:
        status = self._ask("bash", _null_ended(fields))
        if status != "0":
            raise SessionError("ExitStatus", f"exit status {status}")

    def _ask(self, language: str, data: bytes) -> str:
        session = self._sessions.get(language)
        if session is None:
            session = self._sessions[language] = _Session(_argv(language))
        try:
            return session.ask(data)
        except KeyboardInterrupt:
            session.interrupt()
            session.end()
            del self._sessions[language]
            raise SessionError("KeyboardInterrupt", f"The {language} session was interrupted and ended; its variables are lost.") from None
        except (EOFError, BrokenPipeError) as error:
            ran_cell = isinstance(error, EOFError) and not session.has_unread_cell
            code = session.end()
            del self._sessions[language]
            if code == 0 and ran_cell:
                raise _CleanExit(language) from None
            raise SessionError("SessionEnded", f"The {language} session ended with code {code}; its variables are lost.") from None
        except BaseException:
            # The next cell would receive the answer of this one.
            session.end()
            del self._sessions[language]
            raise


def _null_ended(fields: list[str]) -> bytes:
    return b"".join(field.replace("\0", "").encode("utf-8", "replace") + b"\0" for field in fields)


def _argv(language: str) -> list[str]:
    program = shutil.which(_PROGRAMS[language])
    if program is None:
        images = "full" if language == "r" else "standard or full"
        raise SessionError("LanguageMissing", f"This image has no {language}. Create a container with the image {images}.")
    if language == "bash":
        return [program, "--noprofile", "--norc", "-O", "expand_aliases", "-c", _SHELL_LOOP, "bash"]
    if language == "r":
        return r_session.argv(program)
    return [program, "--no-warnings", _NODE_SESSION]
