"""Answers the supervisor's requests to a kernel: execute, snapshot, restore, new random states."""

import asyncio
import contextlib
import contextvars
import json
import os
import sys
import traceback

from ... import packets
from ..channel.channel import Channel
from ..channel.streams import ChannelText, Flusher
from ..snapshot.process_parts import ProcessParts
from ..snapshot.restore import NamespaceRestorer
from ..snapshot.save import NamespaceSaver
from ..snapshot.time_budget import TimeBudget
from . import random_states
from .mapped_files import MappedFiles
from .output_streams import OutputStreams
from .peak_memory import PeakMemory
from .prepared_kernel import PreparedKernel


class RequestServer:
    """Reads requests from the channel on the kernel's event loop, so that tasks of earlier cells continue between cells."""

    def __init__(
        self,
        channel: Channel,
        prepared: PreparedKernel,
        flusher: Flusher,
        streams: tuple[ChannelText, ...],
        outputs: OutputStreams,
        mapped: MappedFiles,
        peak: PeakMemory,
    ) -> None:
        self._channel = channel
        self._kernel = kernel = prepared.kernel
        self._session = prepared.session
        self._flusher = flusher
        self._streams = streams
        self._outputs = outputs
        self._mapped = mapped
        self._peak = peak
        self._process_parts = ProcessParts(prepared.process, prepared.unsaved, kernel)
        # One for all cells, as in a script: numpy and decimal keep their options in it.
        self._context = contextvars.copy_context()

    def on_readable(self) -> None:
        try:
            received = self._channel.receive()
        except (EOFError, OSError):
            os._exit(0)
        if received is None or received[0] != packets.MESSAGE:
            return
        request = json.loads(received[1])
        asyncio.get_running_loop().create_task(self._handle(request), context=self._context)

    async def _handle(self, request: dict[str, object]) -> None:
        self._session.request_id = str(request["id"])
        try:
            reply = await self._dispatch(request)
        except Exception:
            reply = {"status": "error", "name": "KernelFault", "value": traceback.format_exc()[-4000:]}
        if self._channel.is_forked:
            self._end_child(reply)
        self._flusher.end()
        for stream in self._streams:
            stream.buffer.send_all()
        self._mapped.touch()
        self._channel.send_message({"op": "reply", "id": request["id"], "count": self._kernel.shell.execution_count - 1, **reply})

    def _end_child(self, reply: dict[str, object]) -> None:
        """A child that a cell forked ends with the cell, as at the end of a script. Only the kernel replies."""
        for stream in self._streams:
            with contextlib.suppress(ValueError, OSError):
                stream.text.flush()
        os._exit(0 if reply["status"] == "ok" else 1)

    async def _dispatch(self, request: dict[str, object]) -> dict[str, object]:
        shell = self._kernel.shell
        if request["op"] == "execute":
            budget = request["budget"]
            for stream, name in zip(self._streams, ("stdout", "stderr"), strict=True):
                stream.buffer.set_limits(budget[name], budget["tail"])
            self._session.set_limits(budget["bundle"], budget["display_bytes"], budget["displays"])
            self._flusher.begin()
            self._peak.reset()
            notices = self._outputs.restore()
            return await self._kernel.execute(request, lambda: self._begin(request["id"], notices))
        if request["op"] == "snapshot":
            saver = NamespaceSaver(shell, self._channel, self._process_parts)
            return saver.save(request["max_bytes"], request["lost"], _budget(request))
        if request["op"] == "restore":
            restored = NamespaceRestorer(shell, self._channel, self._process_parts).restore(_budget(request))
            if request["fresh_random"]:
                random_states.renew(self._kernel)
            return restored
        if request["op"] == "renew_random":
            random_states.renew(self._kernel)
            return {"status": "ok"}
        return {"status": "error", "name": "KernelFault", "value": "unknown request"}

    def _begin(self, request_id: object, notices: list[str]) -> None:
        self._channel.send_message({"op": "input", "id": request_id, "count": self._kernel.shell.execution_count})
        for notice in notices:
            print(notice, file=sys.stderr)


def _budget(request: dict[str, object]) -> TimeBudget:
    return TimeBudget(request["budget_ms"], request["cpu_budget_ms"])
