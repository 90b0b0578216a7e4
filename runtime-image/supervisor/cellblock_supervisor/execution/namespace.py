"""Snapshots and restores as streams between the kernel and an HTTP body. The supervisor never opens what passes through.

Both run user code (`__reduce__`, `__setstate__`), so both have a budget of time and processor time and are metered like an execution.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from ..cgroup import Cgroup
from ..config import Limits
from .executions import Executions
from .fork_bomb_monitor import ForkBombMonitor
from .kernel_host import KernelDeath, KernelHost, Listener
from .memory_monitor import MemoryMonitor
from .periodic_monitor import PeriodicMonitor
from .worker_messages import Reply

MAX_SNAPSHOT_BYTES = 1 << 30
# Among the lost names: all variables at once. No variable can have this name.
ALL_VARIABLES = "*"
DEFAULT_TIMEOUT_MS = 60_000
MAX_TIMEOUT_MS = 300_000
# The kernel gives variables up after this fraction of the time, so that it is killed only when user code prevents that.
_SOFT_FRACTION = 0.8
# Headers have to stay small for every client; the whole list is the last frame of the body.
_MAX_TRAILER_CHARACTERS = 6_000
_QUEUE_PACKETS = 8


class NotRestorable(Exception):
    """The snapshot could not be read, or the kernel ended while it restored. The message says which."""


@dataclass(frozen=True)
class Budget:
    """`timeout_ms` counts the kernel's time, not that of a slow client; `cpu_ms` is processor time of the whole sandbox, None for unlimited."""

    timeout_ms: int = DEFAULT_TIMEOUT_MS
    cpu_ms: int | None = None

    def for_kernel(self) -> dict[str, int | None]:
        cpu = None if self.cpu_ms is None else max(1, int(self.cpu_ms * _SOFT_FRACTION))
        return {"budget_ms": max(1, int(self.timeout_ms * _SOFT_FRACTION)), "cpu_budget_ms": cpu}


class _Meter:
    """Enforces a budget while the kernel works: past it `on_exceeded` is called once."""

    def __init__(self, budget: Budget, kernel: KernelHost, cgroup: Cgroup, limits: Limits) -> None:
        self._budget = budget
        self._kernel = kernel
        self._cgroup = cgroup
        cgroup.start_cpu_report()
        self._started, self._cpu = time.monotonic(), cgroup.cpu_ms()
        self._paused_at: float | None = None
        self._paused_seconds = 0.0
        self.is_exceeded = False
        memory = MemoryMonitor(cgroup, limits.memory_bytes, lambda: kernel.kill(for_memory=True))
        self._monitor = PeriodicMonitor(self._check, memory.check, ForkBombMonitor(cgroup).check)

    def pause(self) -> None:
        """The kernel waits for the client from here on."""
        self._paused_at = time.monotonic()

    def resume(self) -> None:
        if self._paused_at is not None:
            self._paused_seconds += time.monotonic() - self._paused_at
            self._paused_at = None

    def stop(self) -> dict[str, float]:
        """Ends the metering; returns the usage as the protocol names it."""
        self._monitor.stop()
        return {"run_ms": round(self._run_ms(), 3), "cpu_ms": round(self._cpu_ms(), 3)}

    def report(self) -> dict[str, float]:
        """The same, and what the sandbox has used since the last report. Only for an answer that the client receives."""
        return {**self.stop(), "sandbox_cpu_ms": round(self._cgroup.take_cpu_report(), 3)}

    def _run_ms(self) -> float:
        end = self._paused_at if self._paused_at is not None else time.monotonic()
        return (end - self._started - self._paused_seconds) * 1000

    def _cpu_ms(self) -> float:
        now = self._cgroup.cpu_ms()
        return now - self._cpu if now is not None and self._cpu is not None else 0.0

    def _check(self) -> None:
        is_over_cpu = self._budget.cpu_ms is not None and self._cpu_ms() > self._budget.cpu_ms
        if not self.is_exceeded and (is_over_cpu or self._run_ms() > self._budget.timeout_ms):
            self.is_exceeded = True
            self._kernel.kill()


class _Collector(Listener):
    """Holds at most a few packets: while the client is slow, the kernel waits."""

    def __init__(self, kernel: KernelHost, meter: _Meter) -> None:
        self._kernel = kernel
        self._meter = meter
        self.queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._paused = False
        self._discarding = False

    def on_bulk(self, data: bytes) -> None:
        if self._discarding:
            return
        self.queue.put_nowait(data)
        if self.queue.qsize() >= _QUEUE_PACKETS and not self._paused:
            self._paused = True
            self._meter.pause()
            self._kernel.link.pause()

    def resume(self) -> None:
        if self._paused and self.queue.qsize() < _QUEUE_PACKETS // 2:
            self._paused = False
            self._meter.resume()
            self._kernel.link.resume()

    def discard(self) -> None:
        """The client is gone: what comes is dropped, so that the kernel reaches its end."""
        self._discarding = True
        self.queue = asyncio.Queue()
        self.resume()


class Namespace:
    """The kernel's variables as bytes and back."""

    def __init__(self, kernel: KernelHost, executions: Executions, cgroup: Cgroup, limits: Limits) -> None:
        self._kernel = kernel
        self._executions = executions
        self._new_meter: Callable[[Budget], _Meter] = lambda budget: _Meter(budget, kernel, cgroup, limits)
        self._collector: _Collector | None = None

    def may_pause(self) -> bool:
        """Whether the next piece of a snapshot is not there yet."""
        return self._collector is None or self._collector.queue.empty()

    async def snapshot(self, budget: Budget, trailers: dict[str, str], on_saved: Callable[[], None]) -> AsyncIterator[bytes]:
        """The snapshot's bytes. `on_saved` is called when the client has read all of them. When the kernel dies meanwhile the stream ends early, and the client sees an incomplete body.

        A client that disconnects does not harm the kernel: the rest is dropped, and until its end the namespace stays busy.
        """
        kernel, meter = self._kernel, self._new_meter(budget)
        collector = self._collector = _Collector(kernel, meter)
        # An absolute bound: neither a slow client nor a slow kernel holds the sandbox longer.
        deadline = asyncio.get_running_loop().time() + MAX_TIMEOUT_MS / 1000
        lost = [{"what": ALL_VARIABLES, "reason": "kernel_died"}] if kernel.lost_while_idle else []
        fields: dict[str, object] = {"op": "snapshot", "max_bytes": MAX_SNAPSHOT_BYTES, "lost": lost, **budget.for_kernel()}
        request = asyncio.ensure_future(kernel.request(fields, collector))
        request.add_done_callback(lambda _: collector.queue.put_nowait(None))
        try:
            async with asyncio.timeout_at(deadline):
                while (part := await collector.queue.get()) is not None:
                    collector.resume()
                    yield part
            reply = await request
            if isinstance(reply, KernelDeath):
                kernel.lost_while_idle = True
                raise ConnectionResetError("the kernel ended during the snapshot")
            if not reply.ok:
                raise ConnectionResetError("the kernel could not take a snapshot")
            trailers["Cellblock-Usage"] = json.dumps(meter.report(), separators=(",", ":"))
            trailers["Cellblock-Lost"] = _trailer(reply.lost)
            on_saved()
        finally:
            if request.done():
                meter.stop()
                self._executions.namespace_busy = False
            else:
                self._executions.run_in_background(self._drain_abandoned_snapshot(request, collector, meter, deadline))

    async def _drain_abandoned_snapshot(
        self, request: asyncio.Future[Reply | KernelDeath], collector: _Collector, meter: _Meter, deadline: float
    ) -> None:
        """Waits for the end of a snapshot whose client is gone; a kernel that does not reach it is replaced."""
        collector.discard()
        try:
            async with asyncio.timeout_at(deadline):
                reply = await request
            if isinstance(reply, KernelDeath):
                self._kernel.lost_while_idle = True
        except (TimeoutError, OSError):
            self._kernel.kill()
        finally:
            meter.stop()
            self._executions.namespace_busy = False

    async def restore(self, budget: Budget, body: AsyncIterator[bytes], *, fresh_random: bool = False) -> dict[str, object]:
        """Feeds a snapshot to the kernel; returns what it restored and lost, and the usage. `fresh_random`: without its random states. Raises NotRestorable."""
        kernel = self._kernel
        await kernel.wait_ready()
        meter = self._new_meter(budget)
        request = asyncio.ensure_future(kernel.request({"op": "restore", "fresh_random": fresh_random, **budget.for_kernel()}, Listener()))
        await asyncio.sleep(0)
        finished = False
        try:
            async with asyncio.timeout(MAX_TIMEOUT_MS / 1000):
                await self._feed(body, request, meter)
                reply = await request
            finished = True
        except (TimeoutError, OSError) as error:
            raise NotRestorable("the snapshot did not arrive whole") from error
        finally:
            usage = meter.stop()
            if not finished:
                kernel.kill()
                request.cancel()
        if isinstance(reply, KernelDeath):
            if meter.is_exceeded:
                raise NotRestorable(f"restoring the variables took longer than its limit of {budget.timeout_ms} ms or its processor time")
            raise NotRestorable("the kernel ended while it restored: the snapshot may need more memory than this sandbox has")
        if not reply.ok:
            raise NotRestorable(f"the snapshot could not be read: {reply.value[:500]}")
        return {"restored": reply.restored, "lost": reply.lost, **usage}

    async def _feed(self, body: AsyncIterator[bytes], request: asyncio.Future[Reply | KernelDeath], meter: _Meter) -> None:
        """The kernel's time does not run while it waits for the client."""
        meter.pause()
        async for part in body:
            meter.resume()
            if part and not request.done():
                await self._kernel.link.send_bulk(part)
            meter.pause()
        meter.resume()
        await self._kernel.link.send_bulk(b"")


def _trailer(lost: list[dict[str, str]]) -> str:
    """As many entries as fit a header, as ASCII JSON."""
    while lost and len(json.dumps(lost)) > _MAX_TRAILER_CHARACTERS:
        lost = lost[: len(lost) // 2]
    return json.dumps(lost, separators=(",", ":"))
