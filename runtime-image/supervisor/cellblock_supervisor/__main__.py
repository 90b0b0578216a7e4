"""Starts the sandbox: `python3 -m cellblock_supervisor`, as process 1 of its container."""

import asyncio
import contextlib
import gc
import os
import signal
import sys

from . import worker_identity
from .config import EXIT_BAD_CONFIG, Config, ConfigError, load_config
from .execution import terminals
from .files.client import FilesClient
from .http.routes import dispatch
from .http.server import listen
from .sandbox import Sandbox
from .signing import Verifier
from .worker.drop_privileges import hide_memory, return_memory_early


async def run(config: Config) -> int:
    """Serves until the sandbox ends; returns the exit code."""
    loop = asyncio.get_running_loop()
    # The helper is forked first, while this process is small.
    files = FilesClient()
    sandbox = Sandbox(config, files)
    loop.add_signal_handler(signal.SIGCHLD, _reap)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, sandbox.stop)
    try:
        server = await listen(
            config.listen, Verifier(config.sandbox_id, config.public_key), lambda request: dispatch(sandbox, request)
        )
    except OSError as error:
        print(f"cellblock: cannot listen on {config.listen}: {error}", file=sys.stderr)
        return EXIT_BAD_CONFIG
    starting = loop.create_task(sandbox.start())
    code = await sandbox.finished
    starting.cancel()
    server.close()
    return code


def _reap() -> None:
    """Process 1 inherits every orphan of the sandbox."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass


def main() -> None:
    if sys.argv[1:] == ["probe-network"]:
        # Imported here, so that a serving sandbox does not load it.
        from . import network_probe

        # The arguments come from the starter of the sandbox; a probing one holds no tenant's data.
        sys.exit(network_probe.main())
    hide_memory()
    return_memory_early()
    try:
        config = load_config()
    except ConfigError as error:
        print(f"cellblock: {error}", file=sys.stderr)
        sys.exit(EXIT_BAD_CONFIG)
    # What cannot be done here is found by the self-test.
    with contextlib.suppress(OSError):
        worker_identity.write()
    with contextlib.suppress(OSError):
        terminals.close_to_worker()
    gc.freeze()
    code = asyncio.run(run(config))
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
