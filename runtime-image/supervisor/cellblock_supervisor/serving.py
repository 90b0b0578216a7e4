"""Serves a sandbox until it ends."""

import asyncio
import contextlib
import os
import signal
import sys

from .config import EXIT_BAD_CONFIG, Config
from .http.routes import dispatch
from .http.server import ControlPort
from .sandbox import Sandbox
from .signing import Verifier


async def run(config: Config) -> int:
    """Returns the exit code."""
    loop = asyncio.get_running_loop()
    sandbox = Sandbox(config)
    loop.add_signal_handler(signal.SIGCHLD, _reap)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, sandbox.shutdown.on_signal)
    verifier = Verifier(config.sandbox_id, config.public_key)
    port = ControlPort(config.listen, verifier, lambda request: dispatch(sandbox, request), sandbox.become_copy, sandbox.resume)
    try:
        await port.open()
    except OSError as error:
        print(f"cellblock: cannot listen on {config.listen}: {error}", file=sys.stderr)
        return EXIT_BAD_CONFIG
    tasks = [loop.create_task(sandbox.start()), loop.create_task(port.follow(sandbox.suspending))]
    code = await sandbox.finished
    for task in tasks:
        task.cancel()
    port.close()
    return code


def _reap() -> None:
    """Process 1 inherits every orphan of the sandbox."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
