"""ipykernel's application without the TCP socket that it opens for the output of forked children."""

import codecs
import functools
import os
import subprocess
import sys

import zmq
from ipykernel.iostream import IOPubThread, OutStream
from ipykernel.kernelapp import IPKernelApp
from IPython.core.interactiveshell import InteractiveShell
from tornado.ioloop import IOLoop
from traitlets import default

_PIPE_BYTES = 65536


class NotebookStream(OutStream):
    """`sys.stdout` and `sys.stderr`. What a forked child writes reaches the kernel through a pipe, before the cell that waits for the child ends."""

    def __init__(self, session: object, pub_thread: IOPubThread, name: str, **options: object) -> None:
        self._owner_pid = os.getpid()
        self._from_children, self._to_kernel = os.pipe()
        os.set_blocking(self._from_children, False)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        super().__init__(session, pub_thread, name, **options)
        # In the publishing thread, because a handler keeps the context of its caller: here that has an empty parent message.
        pub_thread.schedule(lambda: pub_thread.io_loop.add_handler(self._from_children, self._read_children, IOLoop.READ))

    def _read_children(self, *_: object) -> None:
        try:
            self.write(self._decoder.decode(os.read(self._from_children, _PIPE_BYTES)))
        except BlockingIOError:
            return

    def write(self, string: str) -> int:
        if os.getpid() == self._owner_pid:
            return super().write(string) or len(string)
        with open(self._to_kernel, "w", encoding="utf-8", errors="replace", closefd=False) as pipe:
            return pipe.write(string)

    def flush(self) -> None:
        """Does nothing in a child: its copy of the buffer belongs to the kernel."""
        if os.getpid() != self._owner_pid:
            return
        if self.pub_thread is not None:
            self.pub_thread.schedule(self._read_children)
        super().flush()


def run_shell_command(shell: InteractiveShell, command: str) -> None:
    """`!command`, which IPython runs in a pseudo-terminal. A sandbox has none for its programs. The whole output precedes the end of the cell."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    line = shell.var_expand(command, depth=1)
    with subprocess.Popen(line, shell=True, executable="/bin/bash", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
        assert child.stdout is not None
        while piece := os.read(child.stdout.fileno(), _PIPE_BYTES):
            sys.stdout.write(decoder.decode(piece))
            sys.stdout.flush()
    shell.user_ns["_exit_code"] = child.returncode


class NotebookKernelApp(IPKernelApp):
    def init_shell(self) -> None:
        super().init_shell()
        if self.shell is not None:
            self.shell.system = functools.partial(run_shell_command, self.shell)

    @default("outstream_class")
    def _default_outstream_class(self) -> str:
        return f"{NotebookStream.__module__}.{NotebookStream.__qualname__}"

    def init_iopub(self, context: zmq.Context) -> None:
        """Replaces the method of IPKernelApp, whose thread opens a TCP socket."""
        socket = context.socket(zmq.PUB)
        socket.linger = 1000
        socket.bind(f"{self.transport}://{self.ip}-{self.iopub_port}")
        self.configure_tornado_logger()
        self.iopub_thread = IOPubThread(socket, pipe=False)
        self.iopub_thread.start()
        self.iopub_socket = self.iopub_thread.background_socket
