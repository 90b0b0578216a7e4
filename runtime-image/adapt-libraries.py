"""Changes lines of installed libraries that do not fit a sandbox: those that need an IP socket, and those that count the processors of the host.

A line that a new version no longer has fails the build.
"""

import pathlib
import sys

_PACKAGES = pathlib.Path("/usr/local/lib/python3.13/dist-packages")
# A program that executes a notebook talks to its kernel over Unix sockets. ZeroMQ makes the path of `ipc://*`.
_CHANGES = (
    ("jupyter_client/connect.py", '["tcp", "ipc"], default_value="tcp"', '["tcp", "ipc"], default_value="ipc"'),
    (
        "ipykernel/iostream.py",
        'self._pipe_port = pipe_in.bind_to_random_port("tcp://127.0.0.1")',
        'pipe_in.bind("ipc://*"); self._pipe_port = pipe_in.getsockopt_string(zmq.LAST_ENDPOINT)',
    ),
    ("ipykernel/iostream.py", 'pipe_out.connect("tcp://127.0.0.1:%i" % self._pipe_port)', "pipe_out.connect(self._pipe_port)"),
    ("psutil/__init__.py", "ret = _psplatform.cpu_count_logical()", "ret = os.cpu_count()"),
    ("psutil/__init__.py", "ret = _psplatform.cpu_count_cores()", "ret = min(_psplatform.cpu_count_cores() or 1, os.cpu_count() or 1)"),
)


def main() -> None:
    for name, before, after in _CHANGES:
        path = _PACKAGES / name
        text = path.read_text(encoding="utf-8")
        if text.count(before) != 1:
            sys.exit(f"{name} has no line {before!r}. Change adapt-libraries.py for this version of the library.")
        path.write_text(text.replace(before, after), encoding="utf-8")


main()
