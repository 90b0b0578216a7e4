"""ipykernel's kernel and shell, connected by the inherited channel instead of ZeroMQ."""

import contextlib
import os
import signal
import sys
import warnings
from collections.abc import Callable

from ipykernel.ipkernel import IPythonKernel
from IPython.core import page
from IPython.core.error import UsageError

from ..displays import picture_budget, rich_displays
from ..displays.display_format import DisplayFormat
from ..isolation import allocation_limit
from ..languages.language_session import LanguageSessions, SessionError
from ..libraries import adapters
from . import file_flush, keyboard
from .cell_compiler import CellCompiler
from .cell_scope import ScopeError, cell_scope
from .contexts import Contexts
from .script_exit import ScriptExit
from .transform_once import TransformOnce

_MAX_REPLY_VALUE_CHARACTERS = 4096
_INTERACTIVE_BACKENDS = frozenset("widget ipympl notebook nbagg auto tk gtk gtk3 gtk4 wx qt qt4 qt5 qt6 osx macosx".split())
_LOOPLESS_GUIS = frozenset((None, "inline", "agg", "asyncio", "nbagg", "notebook", "ipympl", "widget", "webagg"))


class ChannelKernel(IPythonKernel):
    """ipykernel without its transport: `execute` takes the fields of a request and returns a reply."""

    def __init__(self, **traits: object) -> None:
        super().__init__(**traits)
        shell = self.shell
        shell.exit_now = False
        # `exit()` ends the cell like sys.exit(); variables stay.
        shell.ask_exit = _raise_system_exit
        shell.enable_gui = _enable_gui
        shell.enable_matplotlib = _inline_instead(shell.enable_matplotlib)
        # Output for a pager (`print?`, `%man`) is displayed: there is no terminal for a pager.
        shell.set_hook("show_in_pager", page.as_hook(page.display_page), 0)
        # IPython keeps a copy of all printed text for notebook exports: here that would be a memory leak.
        shell._tee = lambda channel: contextlib.nullcontext()
        # Commands write to the kernel's descriptors, which are captured: no terminal emulation, and `&` works.
        shell.system = shell.system_raw
        for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
            os.environ.pop(name, None)
        os.environ["TERM"] = "dumb"
        shell.compile = CellCompiler()
        rich_displays.install(shell.display_formatter)
        self._script_exit = ScriptExit(shell, DisplayFormat(shell), self._send_error)
        adapters.install(shell)
        self.languages = LanguageSessions()
        self.contexts = Contexts(shell, self.languages)
        self._transform = shell.transform_cell = TransformOnce(shell.transform_cell)

    async def execute(self, request: dict[str, object], on_start: Callable[[], None]) -> dict[str, object]:
        """Runs one cell. Interrupts are handled only while it runs, so a late one cannot end the kernel.

        Calls `on_start` when they are: until then the supervisor delays an interrupt.
        """
        self._transform.forget()
        picture_budget.begin_cell()
        allocation_limit.apply()
        self._script_exit.is_clean = False
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            name = request.get("context")
            with self.contexts.entered(name, request["cwd"]) as languages:
                on_start()
                # A context begins in its folder and keeps the one that it enters.
                scoped = request if name is None else {**request, "cwd": None}
                reply = self._run_in_session(scoped, languages) if request["language"] != "python" else await self._run_python(scoped)
                return {**reply, "count": self.shell.execution_count - 1}
        except KeyboardInterrupt:
            return {"status": "error", "name": "KeyboardInterrupt", "value": ""}
        except ScopeError as error:
            return {"status": "error", "name": type(error.__cause__).__name__, "value": str(error)}
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    async def _run_python(self, request: dict[str, object]) -> dict[str, object]:
        with cell_scope(request["env"], request["cwd"]):
            reply = await self.do_execute(request["code"], silent=False, store_history=request["store_history"], allow_stdin=False)
        _flush_streams()
        file_flush.flush(self.shell.user_ns.values())
        if reply["status"] == "error" and self._script_exit.is_clean and reply.get("ename") == "SystemExit":
            return {"status": "ok"}
        value = str(reply.get("evalue", ""))
        shown = value[:_MAX_REPLY_VALUE_CHARACTERS]
        return {"status": reply["status"], "name": reply.get("ename"), "value": shown, "cut_bytes": len(value) - len(shown)}

    def _run_in_session(self, request: dict[str, object], languages: LanguageSessions) -> dict[str, object]:
        count = self.shell.execution_count
        try:
            result = languages.run(request["language"], request["code"], request["env"], request["cwd"])
            self._show(result.pictures)
            if result.notice is not None:
                print(result.notice, file=sys.stderr)
            if result.text is not None:
                content = {"data": {"text/plain": result.text, **result.data}, "metadata": {}, "execution_count": count}
                self.session.send(self.iopub_socket, "execute_result", content)
            return {"status": "ok"}
        except SessionError as error:
            self._show(error.pictures)
            shown = error.value[:_MAX_REPLY_VALUE_CHARACTERS]
            self._send_error(error.name, error.value, error.traceback)
            return {"status": "error", "name": error.name, "value": shown, "cut_bytes": len(error.value) - len(shown)}
        finally:
            if request["store_history"]:
                # As a cell magic, so that `In` and the count agree.
                self.shell.history_manager.store_inputs(count, f"%%{request['language']}\n{request['code']}")
                self.shell.execution_count += 1

    def raw_input(self, prompt: str = "") -> str:
        raise keyboard.refuse()

    def getpass(self, prompt: str = "", stream: object = None) -> str:
        raise keyboard.refuse()

    def _send_error(self, name: str, value: str, traceback: list[str]) -> None:
        self.session.send(self.iopub_socket, "error", {"ename": name, "evalue": value, "traceback": traceback})

    def _show(self, pictures: tuple[bytes, ...]) -> None:
        for picture in pictures:
            self.session.send(self.iopub_socket, "display_data", {"data": {"image/png": picture}, "metadata": {}})


def _flush_streams() -> None:
    """User code may have put its own buffers over the kernel's streams."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def _raise_system_exit() -> None:
    raise SystemExit(0)


def _enable_gui(gui: str | None = None) -> None:
    """`%matplotlib inline` needs no event loop of a toolkit, and asyncio's is the kernel's. Windows cannot be shown."""
    if gui not in _LOOPLESS_GUIS:
        raise UsageError(f"The sandbox has no display, so {gui!r} cannot open windows. Use %matplotlib inline.")


def _inline_instead(enable: Callable[..., object]) -> Callable[..., object]:
    """`%matplotlib widget` needs a page that talks to the kernel, `qt` a display, and `auto` chooses one of them: figures are shown inline."""
    return lambda gui=None: enable("inline" if gui in _INTERACTIVE_BACKENDS else gui)


def silence_warnings() -> None:
    # The only other thread is the flusher, which handles forks.
    warnings.filterwarnings("ignore", message=".*use of fork\\(\\) may lead to deadlocks.*", category=DeprecationWarning)
    # `!pip` is this kernel's own, like `%pip`. `!conda` says itself that there is no network.
    warnings.filterwarnings("ignore", message="You executed the system command !")
    # Tracebacks read the sources of libraries again.
    warnings.filterwarnings("ignore", category=SyntaxWarning, module="/usr/")
    # `fastapi.testclient` works with the httpx that is installed.
    warnings.filterwarnings("ignore", message="Using `httpx` with `starlette.testclient` is deprecated")
    warnings.filterwarnings("ignore", message="To exit: use 'exit', 'quit', or Ctrl-D.")
