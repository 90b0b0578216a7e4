"""`os.openpty` of the kernel: asks the supervisor, since the worker cannot open /dev/ptmx. `pty.fork` and `pty.spawn` use it."""

import os
import socket
import threading

from . import descriptors

# What TERM says where there is no terminal.
NO_TERMINAL = "dumb"


def install(fd: int) -> None:
    connection = socket.socket(fileno=fd)
    connection.set_inheritable(False)
    lock = threading.Lock()

    def openpty() -> tuple[int, int]:
        """Opens a pseudo-terminal; returns the descriptors of both ends. A sandbox has at most eight."""
        with lock:
            # Code that goes through all descriptors may have changed the mode of this one.
            connection.setblocking(True)
            connection.send(b"?")
            answer, fds = descriptors.receive(connection, 16, 2)
        if len(fds) != 2:
            number = int(answer or b"5")
            raise OSError(number, os.strerror(number))
        return fds[0], fds[1]

    os.register_at_fork(after_in_child=lambda: lock._at_fork_reinit())  # type: ignore[attr-defined]
    os.openpty = openpty
