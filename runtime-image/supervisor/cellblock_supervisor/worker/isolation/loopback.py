"""Loopback without IP sockets: Debian's socket_wrapper maps 127.0.0.1 to Unix sockets below one folder of the sandbox.

The library is loaded with the zygote, so every worker has it. It is inactive until its folder is in the environment, which only kernels and
commands set: the self-test keeps the system's own calls. The filter is unchanged, so no packet can be sent whatever the library does.
"""

import os

# The first answers as TCP does where the second does not, and tells the memory of the sandbox instead of the machine's.
LIBRARIES = "/usr/local/lib/libcellblock.so:libsocket_wrapper.so"
FOLDER = "/run/worker/sockets"
_MAX_SOCKETS = 1_024
# Node listens on `::` by default, which clients of 127.0.0.1 do not reach here.
_NODE_WITHOUT_IPV6 = os.path.join(os.path.dirname(__file__), "node_loopback.cjs")


def preload() -> dict[str, str]:
    """Variables for the start of the zygote; empty where the image lacks the library."""
    return {"LD_PRELOAD": LIBRARIES} if os.path.exists(LIBRARIES.partition(":")[0]) else {}


def activate() -> None:
    """In a worker, after it has become one. Without the folder every IP socket stays refused."""
    if os.environ.get("LD_PRELOAD") != LIBRARIES:
        return
    try:
        os.makedirs(FOLDER, mode=0o700, exist_ok=True)
    except OSError:
        return
    os.environ |= {
        "SOCKET_WRAPPER_DIR": FOLDER,
        "SOCKET_WRAPPER_DEFAULT_IFACE": "1",
        "SOCKET_WRAPPER_MAX_SOCKETS": str(_MAX_SOCKETS),
        "NODE_OPTIONS": f"{os.environ.get('NODE_OPTIONS', '')} --require={_NODE_WITHOUT_IPV6}".strip(),
    }
