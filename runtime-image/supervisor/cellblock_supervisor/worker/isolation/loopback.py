"""Loopback without IP sockets: Debian's socket_wrapper maps 127.0.0.1 to Unix sockets below one folder of the sandbox.

The library is loaded with the zygote, so every worker has it. It is inactive until its folder is in the environment, which only kernels and
commands set: the self-test keeps the system's own calls. The filter is unchanged, so no packet can be sent whatever the library does.
"""

import contextlib
import os

from ...config import NETWORK_DIR

# The first answers as TCP does where the second does not, and tells the memory of the sandbox instead of the machine's.
LIBRARIES = "/usr/local/lib/libcellblock.so:libsocket_wrapper.so"
FOLDER = "/run/worker/sockets"
_MAX_SOCKETS = 1_024
# While the container has a policy of the network, the supervisor listens at the first. Programs connect to it as to a port of 127.0.0.1.
PROXY_SOCKET = f"{NETWORK_DIR}/proxy"
PROXY_PORT = 3128
# Node listens on `::` by default, which clients of 127.0.0.1 do not reach here.
_NODE_WITHOUT_IPV6 = os.path.join(os.path.dirname(__file__), "node_loopback.cjs")


def is_installed() -> bool:
    return os.path.exists(LIBRARIES.partition(":")[0])


def preload() -> dict[str, str]:
    """Variables for the start of the zygote; empty where the image lacks the library."""
    return {"LD_PRELOAD": LIBRARIES} if is_installed() else {}


def activate() -> None:
    """In a worker, after it has become one. Without the folder every IP socket stays refused."""
    if os.environ.get("LD_PRELOAD") != LIBRARIES:
        return
    try:
        os.makedirs(FOLDER, mode=0o700, exist_ok=True)
    except OSError:
        return
    # Where the layer looks for a TCP server on the first interface. The link leads nowhere while there is no policy.
    with contextlib.suppress(OSError):
        os.symlink(PROXY_SOCKET, f"{FOLDER}/T01{PROXY_PORT:04X}")
    os.environ |= {
        "SOCKET_WRAPPER_DIR": FOLDER,
        "SOCKET_WRAPPER_DEFAULT_IFACE": "1",
        "SOCKET_WRAPPER_MAX_SOCKETS": str(_MAX_SOCKETS),
        "NODE_OPTIONS": f"{os.environ.get('NODE_OPTIONS', '')} --require={_NODE_WITHOUT_IPV6}".strip(),
    }
