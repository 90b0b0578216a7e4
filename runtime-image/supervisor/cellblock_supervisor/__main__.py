"""Starts the sandbox: `python3 -m cellblock_supervisor`, as process 1 of its container."""

import contextlib
import gc
import os
import sys

from . import worker_identity
from .config import EXIT_BAD_CONFIG, ConfigError, load_config
from .worker.isolation.drop_privileges import hide_memory, return_memory_early


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
    # asyncio would load OpenSSL, which takes 1 MB. The supervisor opens no TLS connection.
    sys.modules["ssl"] = None  # type: ignore[assignment]
    import asyncio

    from . import serving
    from .execution import terminals

    with contextlib.suppress(OSError):
        terminals.close_to_worker()
    gc.freeze()
    code = asyncio.run(serving.run(config))
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
