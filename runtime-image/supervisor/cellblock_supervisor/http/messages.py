"""Requests and replies of the routes."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

from ..socket_stream import SocketStream

STATUS = {
    "unauthorized": 401,
    "not_found": 404,
    "bad_request": 400,
    "conflict": 409,
    "too_large": 413,
    "disk_full": 507,
    "unavailable": 503,
    "internal": 500,
}


class HttpError(Exception):
    """An error of the protocol's table. The message tells the client what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class BodyTooLarge(HttpError):
    def __init__(self, limit: int) -> None:
        super().__init__("too_large", f"the body must not be larger than {limit} bytes")


@dataclass
class Request:
    method: str
    # The path's segments, percent-decoded one by one; the query as sent.
    path: list[str]
    query: dict[str, str]
    body: AsyncIterator[bytes]

    async def json(self, limit: int) -> dict[str, object]:
        """The body as a JSON object; raises HttpError. An empty body is an empty object."""
        parts: list[bytes] = []
        size = 0
        async for part in self.body:
            size += len(part)
            if size > limit:
                raise BodyTooLarge(limit)
            parts.append(part)
        if size == 0:
            return {}
        try:
            value = json.loads(b"".join(parts))
        except (ValueError, RecursionError):
            raise HttpError("bad_request", "the body is not valid JSON") from None
        if not isinstance(value, dict):
            raise HttpError("bad_request", "the body must be a JSON object")
        return value


@dataclass
class Reply:
    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    # Replaces `body`. Sent as it is with a known length, otherwise chunked and followed by `trailers`, which are filled meanwhile.
    stream: AsyncIterator[bytes | memoryview] | None = None
    length: int | None = None
    # Whether the stream may pause before its end. The last piece is sent together with the end of the reply.
    more: Callable[[], bool] | None = None
    trailers: dict[str, str] = field(default_factory=dict)
    # With status 101: serves the connection from here on. It gets the head of this reply and sends it when it likes.
    upgrade: Callable[[SocketStream, bytes], Awaitable[None]] | None = None


def json_reply(value: object, status: int = 200) -> Reply:
    return Reply(status, json.dumps(value, separators=(",", ":")).encode())


def error_reply(error: HttpError) -> Reply:
    return json_reply({"error": {"code": error.code, "message": error.message}}, STATUS[error.code])
