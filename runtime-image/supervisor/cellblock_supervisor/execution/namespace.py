"""Snapshots and restores as streams between the kernel and an HTTP body. The supervisor never opens what passes through."""

import asyncio
import json
from collections.abc import AsyncIterator

from .kernel_host import KernelDeath, KernelHost, Listener
from .registry import Registry

MAX_SNAPSHOT_BYTES = 1 << 30
# Stands for all variables at once among those that are lost; no variable can have this name.
ALL_VARIABLES = "*"
TIMEOUT_SECONDS = 300.0
# Headers have to stay small for every client; the whole list is the last frame of the body.
_MAX_TRAILER_CHARACTERS = 6_000
_QUEUE_PACKETS = 64


class NotRestorable(Exception):
    """The snapshot could not be read, or the kernel ended over it. The message says which."""


class _Collector(Listener):
    """Holds at most a few packets: while the client is slow, the kernel waits."""

    def __init__(self, kernel: KernelHost) -> None:
        self._kernel = kernel
        self.queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._paused = False
        self._discarding = False

    def on_bulk(self, data: bytes) -> None:
        if self._discarding:
            return
        self.queue.put_nowait(data)
        if self.queue.qsize() >= _QUEUE_PACKETS and not self._paused:
            self._paused = True
            self._kernel.link.pause()

    def resume(self) -> None:
        if self._paused and self.queue.qsize() < _QUEUE_PACKETS // 2:
            self._paused = False
            self._kernel.link.resume()

    def discard(self) -> None:
        """Nobody reads any more: what comes is dropped, so that the kernel gets to its end."""
        self._discarding = True
        self.queue = asyncio.Queue()
        self.resume()


async def take_snapshot(kernel: KernelHost, registry: Registry, trailers: dict[str, str]) -> AsyncIterator[bytes]:
    """The snapshot's bytes. A kernel that dies over it ends the stream early; the client sees an incomplete body.

    A client that goes away costs the kernel nothing: the rest is dropped, and until then the namespace stays busy.
    """
    collector = _Collector(kernel)
    deadline = asyncio.get_running_loop().time() + TIMEOUT_SECONDS
    lost = [{"what": ALL_VARIABLES, "reason": "kernel_died"}] if kernel.lost_while_idle else []
    fields: dict[str, object] = {"op": "snapshot", "max_bytes": MAX_SNAPSHOT_BYTES, "lost": lost}
    asking = asyncio.ensure_future(kernel.request(fields, collector))
    asking.add_done_callback(lambda _: collector.queue.put_nowait(None))
    try:
        async with asyncio.timeout_at(deadline):
            while (part := await collector.queue.get()) is not None:
                collector.resume()
                yield part
        reply = await asking
        if isinstance(reply, KernelDeath):
            kernel.lost_while_idle = True
            raise ConnectionResetError("the kernel ended over the snapshot")
        if reply.get("status") != "ok":
            raise ConnectionResetError("the kernel could not take a snapshot")
        trailers["Cellblock-Lost"] = _trailer(reply.get("lost"))
    finally:
        if asking.done():
            registry.namespace_busy = False
        else:
            registry.run_in_background(_drain_abandoned_snapshot(kernel, registry, asking, collector, deadline))


async def _drain_abandoned_snapshot(
    kernel: KernelHost,
    registry: Registry,
    asking: asyncio.Future[dict[str, object] | KernelDeath],
    collector: _Collector,
    deadline: float,
) -> None:
    """Lets the kernel say the rest of a snapshot that nobody wants any more; one that does not come to its end is replaced."""
    collector.discard()
    try:
        async with asyncio.timeout_at(deadline):
            reply = await asking
        if isinstance(reply, KernelDeath):
            kernel.lost_while_idle = True
    except (TimeoutError, OSError):
        kernel.kill()
    finally:
        registry.namespace_busy = False


async def restore(kernel: KernelHost, body: AsyncIterator[bytes]) -> dict[str, object]:
    """Feeds a snapshot to the kernel; answers what it restored and lost. Raises NotRestorable."""
    await kernel.wait_ready()
    asking = asyncio.ensure_future(kernel.request({"op": "restore"}, Listener()))
    await asyncio.sleep(0)
    finished = False
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            async for part in body:
                if part and not asking.done():
                    await kernel.link.send_bulk(bytes(part))
            await kernel.link.send_bulk(b"")
            reply = await asking
        finished = True
    except (TimeoutError, OSError) as error:
        raise NotRestorable("the snapshot did not arrive whole") from error
    finally:
        if not finished:
            kernel.kill()
            asking.cancel()
    if isinstance(reply, KernelDeath):
        raise NotRestorable("the kernel ended while it restored: the snapshot may need more memory than this sandbox has")
    if reply.get("status") != "ok":
        raise NotRestorable(f"the snapshot could not be read: {str(reply.get('value'))[:500]}")
    return {"restored": reply.get("restored", 0), "lost": reply.get("lost", [])}


def _trailer(lost: object) -> str:
    """As many entries as fit a header, as ASCII JSON."""
    entries = list(lost) if isinstance(lost, list) else []
    while entries and len(json.dumps(entries)) > _MAX_TRAILER_CHARACTERS:
        entries = entries[: len(entries) // 2]
    return json.dumps(entries, separators=(",", ":"))
