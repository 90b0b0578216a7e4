"""Connects a prepared kernel to the channel that its process inherited, and serves it until the process ends.

Its only sockets are the channel and the one for terminals, its only other thread is the flusher. Messages from the supervisor: execute, snapshot, restore.
Messages to it: ready, input (a cell begins), display, update, clear, error, reply. Each carries the id of its request.
"""

import asyncio
import os
import signal
import sys

from tornado.ioloop import IOLoop

from ... import packets
from ..channel.channel import Channel
from ..channel.output_pipes import OutputPipes
from ..channel.streams import ChannelText, Flusher
from ..isolation import environment
from . import random_states
from .mapped_files import MappedFiles
from .output_streams import OutputStreams
from .peak_memory import PeakMemory
from .prepared_kernel import PreparedKernel
from .request_server import RequestServer


def serve(prepared: PreparedKernel, channel: Channel, data_dir: str, peak: PeakMemory) -> None:
    """Connects a kernel and serves it. Never returns. The caller has already become the worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.chdir(data_dir)
    sys.path[:0] = [""]
    environment.find_installed_packages()
    sys.argv = ["cellblock-kernel"]
    random_states.seed()
    stdout = ChannelText.over(channel, packets.STDOUT, "stdout", 1)
    stderr = ChannelText.over(channel, packets.STDERR, "stderr", 2, before=stdout.text.flush)
    sys.stdout = sys.__stdout__ = stdout.text
    sys.stderr = sys.__stderr__ = stderr.text
    outputs = OutputStreams((stdout, stderr), OutputPipes())
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
        return RequestServer(channel, prepared, flusher, (stdout, stderr), outputs, mapped, peak)

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
