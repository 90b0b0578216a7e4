"""Pseudo-terminals for the worker: at most eight per sandbox, opened here and passed as descriptors.

All containers of a host share one quota of pseudo-terminals, so the worker cannot open /dev/ptmx.
"""

import asyncio
import contextlib
import errno
import os
import socket

MAX_TERMINALS = 8
_FOLDER = "/dev/pts"


def close_to_worker() -> None:
    """Raises OSError. The self-test tries as the worker whether it holds."""
    os.chmod(f"{_FOLDER}/ptmx", 0o600)


def open_pair() -> tuple[int, int]:
    """The two ends of a new pseudo-terminal. Raises OSError when the sandbox has its maximum."""
    if len(os.listdir(_FOLDER)) - 1 >= MAX_TERMINALS:
        raise OSError(errno.ENOSPC, "too many terminals")
    ends = os.openpty()
    # The worker must be able to open the terminal by its name too; nothing else in the sandbox runs under another UID.
    os.fchmod(ends[1], 0o666)
    return ends


class TerminalBroker:
    """Serves one kernel and its children: each packet asks for one pair; the answer is two descriptors, or an errno."""

    def __init__(self) -> None:
        self._socket, self._worker_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setblocking(False)
        asyncio.get_running_loop().add_reader(self._socket, self._on_request)

    @property
    def worker_fd(self) -> int:
        return self._worker_socket.fileno()

    def release_worker_fd(self) -> None:
        self._worker_socket.close()

    def close(self) -> None:
        if self._socket.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()

    def _on_request(self) -> None:
        try:
            is_open = bool(self._socket.recv(16))
        except BlockingIOError:
            return
        except OSError:
            is_open = False
        if not is_open:
            self.close()
            return
        # A kernel that asks without reading the answers gets none.
        with contextlib.suppress(OSError):
            self._answer()

    def _answer(self) -> None:
        try:
            ends = open_pair()
        except OSError as error:
            self._socket.send(str(error.errno or errno.EIO).encode())
            return
        try:
            socket.send_fds(self._socket, [b"0"], list(ends))
        finally:
            for end in ends:
                os.close(end)
