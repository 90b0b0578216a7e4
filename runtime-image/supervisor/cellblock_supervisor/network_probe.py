"""Tests the network around a sandbox without the worker's seccomp filter: `python3 -m cellblock_supervisor probe-network`.

A worker has no sockets, so it cannot test the network. This runs instead of the supervisor, as root and without the filter, in a task that
holds no tenant's data. The task has no log driver, so the result is its exit code: 32 plus one bit for each protection that failed.
"""

import contextlib
import json
import os
import socket
import ssl
import struct
import sys
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any

EXIT_BASE = 32
WAIT_SECONDS = 3.0
_ANSWERS = (200, 204, 206, 301, 302, 307)

Targets = Mapping[str, Any]


def internet(targets: Targets) -> bool:
    """A host on the internet accepts a connection."""
    return any(_connects(host, port) for host, port in targets["internet"])


def names(targets: Targets) -> bool:
    """A name that is not allowed resolves, by the system's resolver or by any other."""
    name = str(targets["name"])
    with contextlib.suppress(OSError):
        socket.getaddrinfo(name, 443)
        return True
    return any(_resolves(resolver, name, tcp) for resolver in targets["resolvers"] for tcp in (False, True))


def credentials(targets: Targets) -> bool:
    """The environment or a metadata endpoint contains AWS credentials."""
    if any(key.startswith(("AWS_CONTAINER_CREDENTIALS", "AWS_ACCESS_KEY", "AWS_SECRET", "AWS_SESSION")) for key in os.environ):
        return True
    return any(b"AccessKeyId" in _get(url) or b"SecretAccessKey" in _get(url) for url in targets["credentials"])


def foreign_bucket(targets: Targets) -> bool:
    """A signed upload to a foreign bucket succeeds over the endpoint that serves the image."""
    url = urllib.parse.urlsplit(str(targets["put_url"]))
    if url.hostname is None:
        return False
    target = f"{url.path}?{url.query}" if url.query else url.path
    head = f"PUT {target} HTTP/1.1\r\nHost: {url.netloc}\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"
    host, port = targets["put_via"]
    # Its own name is blocked; the layer bucket's address serves every bucket of the Region.
    for via in (host, url.hostname):
        with contextlib.suppress(OSError, ValueError):
            if _status(via, port, head.encode() + b"probe", url.hostname if url.scheme == "https" else None) in _ANSWERS:
                return True
    return False


def neighbours(targets: Targets) -> bool:
    """Another host of the same network accepts a connection."""
    return any(_connects(host, port) for host, port in targets["neighbours"])


# The order is that of the bits.
CHECKS: tuple[Callable[[Targets], bool], ...] = (internet, names, credentials, foreign_bucket, neighbours)


def main() -> int:
    targets = json.loads(os.environ["CELLBLOCK_PROBE"])
    return EXIT_BASE + sum(1 << bit for bit, check in enumerate(CHECKS) if check(targets))


def _connects(host: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((host, port), WAIT_SECONDS):
        return True
    return False


def _resolves(resolver: list[Any], name: str, tcp: bool) -> bool:
    """Whether the answer has records; a DNS firewall's NXDOMAIN has none."""
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    question = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">HH", 1, 1)
    host, port = resolver
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with (
        contextlib.suppress(OSError, struct.error),
        socket.socket(family, socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM) as asked,
    ):
        asked.settimeout(WAIT_SECONDS)
        asked.connect((host, port))
        asked.sendall(struct.pack(">H", len(question)) + question if tcp else question)
        answer = asked.recv(4096)[2 if tcp else 0 :]
        return struct.unpack(">H", answer[6:8])[0] > 0
    return False


def _get(url: str) -> bytes:
    parts = urllib.parse.urlsplit(url)
    with (
        contextlib.suppress(OSError),
        socket.create_connection((parts.hostname or "", parts.port or 80), WAIT_SECONDS) as asked,
    ):
        asked.settimeout(WAIT_SECONDS)
        asked.sendall(f"GET {parts.path} HTTP/1.0\r\nHost: {parts.netloc}\r\n\r\n".encode())
        said = b""
        while len(said) < 65_536 and (more := asked.recv(8192)):
            said += more
        return said
    return b""


def _status(via: str, port: int, request: bytes, tls_name: str | None) -> int:
    with socket.create_connection((via, port), WAIT_SECONDS) as plain:
        plain.settimeout(WAIT_SECONDS)
        context = ssl.create_default_context()
        context.check_hostname = False
        # Any answer means that the upload left; the identity of the server does not matter.
        context.verify_mode = ssl.CERT_NONE
        with contextlib.ExitStack() as stack:
            asked = stack.enter_context(context.wrap_socket(plain, server_hostname=tls_name)) if tls_name else plain
            asked.sendall(request)
            return int(asked.recv(64).split(b" ")[1])


if __name__ == "__main__":
    sys.exit(main())
