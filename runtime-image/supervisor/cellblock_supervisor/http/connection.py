"""One HTTP/1.1 connection, kept alive: h11 parses, the signature is checked before anything else happens."""

import asyncio
import contextlib
import sys
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable

import h11

from ..signing import Refused, Verifier
from .messages import HttpError, Reply, Request, error_reply
from ..socket_stream import SocketStream

# A silent client is disconnected after this time.
IDLE_SECONDS = 300.0
# A body that pauses longer is abandoned, so that a stalled upload does not hold resources.
BODY_PAUSE_SECONDS = 120.0

# The name of a connection that carries bytes after its head.
UPGRADE = "cellblock-stream"

Handler = Callable[[Request], Awaitable[Reply]]


class Connection:
    def __init__(self, stream: SocketStream, verifier: Verifier, handler: Handler) -> None:
        self._stream = stream
        self._verifier = verifier
        self._handler = handler
        self._h11 = h11.Connection(h11.SERVER, max_incomplete_event_size=32 * 1024)

    async def serve(self) -> None:
        """Returns at the end of the connection; never raises for a client's mistake."""
        try:
            while True:
                async with asyncio.timeout(IDLE_SECONDS):
                    event = await self._next_event()
                if not isinstance(event, h11.Request):
                    return
                await self._answer(event)
                if self._h11.our_state is not h11.DONE or self._h11.their_state is not h11.DONE:
                    return
                self._h11.start_next_cycle()
        except h11.RemoteProtocolError as error:
            with contextlib.suppress(Exception):
                await self._send(error_reply(HttpError("bad_request", f"not HTTP/1.1: {error}")))
        except (ConnectionError, TimeoutError, h11.LocalProtocolError):
            pass
        finally:
            self._stream.close()

    async def _answer(self, head: h11.Request) -> None:
        try:
            request = self._authenticate(head)
            reply = await self._handler(request)
        except HttpError as error:
            reply = error_reply(error)
        except (ConnectionError, TimeoutError, h11.RemoteProtocolError):
            raise
        except Exception:
            # The only place that logs faults of the supervisor. The text never contains user data.
            traceback.print_exc(limit=-4, file=sys.stderr)
            reply = error_reply(HttpError("internal", "the supervisor failed; its standard error says more"))
        await self._send(reply)
        await self._discard_rest()

    def _authenticate(self, head: h11.Request) -> Request:
        method, target = head.method.decode("ascii"), head.target.decode("ascii", "replace")
        path, _, query = target.partition("?")
        if not (method == "GET" and path == "/health"):
            signatures = [value for name, value in head.headers if name == b"cellblock-signature"]
            try:
                header = signatures[0].decode("latin-1") if len(signatures) == 1 else None
                self._verifier.check(header, method, target, time.time_ns() // 1_000_000)
            except Refused as refusal:
                raise HttpError("unauthorized", str(refusal)) from None
        segments, fields = decoded(path, query)
        return Request(method, segments, fields, self._body())

    async def _body(self) -> AsyncIterator[bytes]:
        if self._h11.they_are_waiting_for_100_continue:
            self._stream.write(self._h11.send(h11.InformationalResponse(status_code=100, headers=[])) or b"")
        while True:
            if self._h11.their_state is not h11.SEND_BODY:
                return
            async with asyncio.timeout(BODY_PAUSE_SECONDS):
                event = await self._next_event()
            if isinstance(event, h11.Data):
                yield event.data
            elif isinstance(event, h11.EndOfMessage):
                return
            else:
                raise ConnectionResetError

    async def _next_event(self) -> object:
        while True:
            event = self._h11.next_event()
            if event is not h11.NEED_DATA:
                return event
            self._h11.receive_data(await self._stream.read())

    async def _send(self, reply: Reply) -> None:
        if reply.upgrade is not None:
            # Raises h11.LocalProtocolError when the client did not ask for it.
            head = self._h11.send(h11.InformationalResponse(status_code=101, headers=[("Connection", "Upgrade"), ("Upgrade", UPGRADE)]))
            await reply.upgrade(self._stream, head or b"")
            return
        headers = [("Content-Type", reply.content_type)] if reply.body or reply.stream is not None else []
        if reply.stream is None:
            headers.append(("Content-Length", str(len(reply.body))))
        elif reply.length is not None:
            headers.append(("Content-Length", str(reply.length)))
        else:
            headers.append(("Transfer-Encoding", "chunked"))
        out = self._h11.send(h11.Response(status_code=reply.status, headers=headers)) or b""
        if reply.stream is None:
            out += (self._h11.send(h11.Data(reply.body)) or b"") if reply.body else b""
            self._stream.write(out + (self._h11.send(h11.EndOfMessage()) or b""))
            await self._stream.drain()
            return
        # The head is sent with the first piece and the end with the last one if it is available.
        waiting = [out]
        try:
            async for part in reply.stream:
                if part:
                    waiting += self._h11.send_with_data_passthrough(h11.Data(part)) or []
                if reply.more is None or reply.more():
                    self._stream.write(*waiting)
                    waiting = []
                    await self._stream.drain()
            waiting.append(self._h11.send(h11.EndOfMessage(headers=list(reply.trailers.items()))) or b"")
            self._stream.write(*waiting)
            await self._stream.drain()
        except HttpError:
            # Too late for a status: the client sees a body that ends early.
            self._stream.abort()
            raise ConnectionResetError from None
        finally:
            await reply.stream.aclose()  # type: ignore[attr-defined]

    async def _discard_rest(self) -> None:
        """Reads the rest of an unused body if it is short; otherwise the connection ends."""
        left = 64 * 1024
        while self._h11.their_state is h11.SEND_BODY and left > 0:
            event = await self._next_event()
            if not isinstance(event, h11.Data):
                return
            left -= len(event.data)


def decoded(path: str, query: str) -> tuple[list[str], dict[str, str]]:
    """The segments of the path and the fields of the query."""
    segments = path.split("/")[1:]
    if "%" not in path and "%" not in query and "+" not in query:
        pairs = (pair.partition("=") for pair in query.split("&"))
        return segments, {name: value for name, _, value in pairs if value}
    # It takes 0.3 MB, and the requests of a sandbox that only runs code have nothing to decode.
    from urllib.parse import parse_qsl, unquote

    try:
        return [unquote(part, errors="strict") for part in segments], dict(parse_qsl(query))
    except UnicodeDecodeError:
        raise HttpError("bad_request", "the path is not percent-encoded UTF-8") from None
