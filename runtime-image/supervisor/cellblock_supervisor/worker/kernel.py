"""The kernel: ipykernel's kernel and shell, connected by the inherited channel instead of ZeroMQ.

Its only sockets are the channel and the one for terminals, its only other thread is the flusher. Messages from the supervisor: execute, snapshot, restore.
Messages to it: ready, input (a cell begins), display, update, clear, error, reply. Each carries the id of its request.
"""

import asyncio
import contextlib
import os
import random
import signal
import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from ipykernel.ipkernel import IPythonKernel
from IPython.core import page
from IPython.core.error import UsageError
from tornado.ioloop import IOLoop

from .. import packets
from . import agg_show, allocation_limit, environment, figure_pauses, font_fallbacks, keyboard, math_text, nested_asyncio, network_errors
from . import open_files, picture_budget, rich_displays, spawned_processes, widget_output
from .cell_compiler import CellCompiler
from .cell_scope import ScopeError, cell_scope
from .channel import Channel
from .display_format import DisplayFormat
from .language_session import LanguageSessions, SessionError
from .mapped_files import MappedFiles
from .peak_memory import PeakMemory
from .request_server import RequestServer
from .script_exit import ScriptExit
from .streams import ChannelText, Flusher
from .transform_once import TransformOnce

if TYPE_CHECKING:
    from .prepared_kernel import PreparedKernel


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
        agg_show.install(shell.display_formatter)
        figure_pauses.install(shell)
        widget_output.install()
        nested_asyncio.install()
        network_errors.install()
        math_text.install()
        font_fallbacks.install()
        spawned_processes.install()
        self.languages = LanguageSessions()
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
            on_start()
            if request["language"] != "python":
                return self._run_in_session(request)
            with cell_scope(request["env"], request["cwd"]):
                reply = await self.do_execute(
                    request["code"], silent=False, store_history=request["store_history"], allow_stdin=False
                )
            _flush_streams()
            open_files.flush(self.shell.user_ns.values())
            if reply["status"] == "error" and self._script_exit.is_clean and reply.get("ename") == "SystemExit":
                return {"status": "ok"}
            value = str(reply.get("evalue", ""))
            shown = value[:_MAX_REPLY_VALUE_CHARACTERS]
            return {"status": reply["status"], "name": reply.get("ename"), "value": shown, "cut_bytes": len(value) - len(shown)}
        except KeyboardInterrupt:
            return {"status": "error", "name": "KeyboardInterrupt", "value": ""}
        except ScopeError as error:
            return {"status": "error", "name": type(error.__cause__).__name__, "value": str(error)}
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    def _run_in_session(self, request: dict[str, object]) -> dict[str, object]:
        count = self.shell.execution_count
        try:
            result = self.languages.run(request["language"], request["code"], request["env"], request["cwd"])
            self._show(result.pictures)
            if result.notice is not None:
                print(result.notice, file=sys.stderr)
            if result.text is not None:
                content = {"data": {"text/plain": result.text}, "metadata": {}, "execution_count": count}
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


def _reseed() -> None:
    """Kernels forked from one preloaded process must not share random states."""
    random.seed()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(int.from_bytes(os.urandom(4)))


def _audit(flusher: Flusher, channel: Channel, mapped: MappedFiles) -> None:
    """Sends everything printed before a child process starts, so that its output comes after it; records mapped files."""
    spawning = frozenset(("subprocess.Popen", "os.system", "os.posix_spawn", "os.spawn", "pty.spawn"))

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in spawning:
            flusher.flush()
            channel.wait_until_read()
        elif event == "mmap.__new__":
            mapped.note(*arguments)

    sys.addaudithook(hook)


def main(prepared: "PreparedKernel", channel: Channel, data_dir: str, peak: PeakMemory) -> None:
    """Connects a kernel and serves it. Never returns. The caller has already become the worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.chdir(data_dir)
    sys.path[:0] = [""]
    environment.find_installed_packages()
    sys.argv = ["cellblock-kernel"]
    _reseed()
    stdout = ChannelText.over(channel, packets.STDOUT, "stdout", 1)
    stderr = ChannelText.over(channel, packets.STDERR, "stderr", 2, before=stdout.text.flush)
    sys.stdout = sys.__stdout__ = stdout.text
    sys.stderr = sys.__stderr__ = stderr.text
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    session = prepared.session
    session.channel = channel
    flusher = Flusher((stdout, stderr), session.release)
    mapped = MappedFiles(data_dir)
    prepared.profile.location = "/tmp/.ipython-profile"
    prepared.process.begin()

    async def boot() -> RequestServer:
        prepared.kernel.io_loop = IOLoop.current()
        return RequestServer(channel, prepared, flusher, (stdout, stderr), mapped, peak)

    server = loop.run_until_complete(boot())
    flusher.start()
    prepared.unsaved.begin()
    _audit(flusher, channel, mapped)
    loop.add_reader(channel.fileno(), server.on_readable)
    channel.send_message({"op": "ready", "id": "", "python": sys.version.split()[0]})
    while True:
        try:
            loop.run_forever()
        except KeyboardInterrupt:
            continue
