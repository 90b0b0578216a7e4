"""Loopback without IP sockets: Debian's socket_wrapper maps 127.0.0.1 to Unix sockets below one folder of the sandbox.

The library is loaded with the zygote, so every worker has it. It is inactive until its folder is in the environment, which only kernels and
commands set: the self-test keeps the system's own calls. The filter is unchanged, so no packet can be sent whatever the library does.
"""

import contextlib
import errno
import os
import socket

from ...config import NETWORK_DIR

# The first answers as TCP does where the second does not, and tells the memory of the sandbox instead of the machine's.
LIBRARIES = "/usr/local/lib/libcellblock.so:libsocket_wrapper.so"
FOLDER = "/run/worker/sockets"
_MAX_SOCKETS = 1_024
# While the container has a policy of the network, the supervisor listens at the first. Programs connect to it as to a port of 127.0.0.1.
PROXY_SOCKET = f"{NETWORK_DIR}/proxy"
PROXY_PORT = 3128
# The layer's sockets of TCP servers on 127.0.0.1, and on ::1.
_FAMILIES = ("T", "X")
# Clients get a port from here on.
_FIRST_CLIENT_PORT = 0x8000
_CLIENT_ATTEMPTS = 20
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


def server_paths(port: int, folder: str = FOLDER) -> list[str]:
    """Where the layer puts the socket of a program that listens on the port."""
    return [f"{folder}/{family}01{port:04X}" for family in _FAMILIES]


def connect(port: int, folder: str = FOLDER) -> int:
    """A descriptor of a connection to the program that listens on the port, as one of the layer's clients makes it.

    The caller has the worker's rights and the system's own calls, because the layer is inactive in it. Never waits. Raises OSError.
    """
    failure = OSError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
    for path in server_paths(port, folder):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as client:
            try:
                name = _bind_client(client, os.path.basename(path)[0], folder)
                try:
                    client.connect(path)
                finally:
                    os.unlink(name)
                return client.detach()
            except OSError as error:
                # Nothing there, or a socket whose program has ended.
                failure = failure if error.errno == errno.ENOENT else error
    raise failure


def _bind_client(client: socket.socket, family: str, folder: str) -> str:
    """The layer refuses a client whose name is not that of a port. The name is needed for the connection only."""
    for attempt in range(_CLIENT_ATTEMPTS):
        name = f"{folder}/{family}01{int.from_bytes(os.urandom(2)) | _FIRST_CLIENT_PORT:04X}"
        try:
            client.bind(name)
            return name
        except OSError as error:
            if error.errno != errno.EADDRINUSE or attempt == _CLIENT_ATTEMPTS - 1:
                raise
    raise AssertionError
