"""Restores a namespace inside the kernel: a variable that fails is named, the others are restored."""

import importlib
import json
from typing import Any

from ..channel.channel import Channel
from .frames import FORMAT, FrameReader
from .installed_packages import PackageRestorer
from .losses import Lost, reason
from .namespace_unpickler import NamespaceUnpickler
from .process.process_state import FIRST_PARTS
from .process_parts import ProcessParts
from .time_budget import TimeBudget


class NamespaceRestorer:
    """Reads a snapshot from the channel until its empty packet, into the namespace of a shell."""

    def __init__(self, shell: Any, channel: Channel, process_parts: ProcessParts) -> None:
        self._shell = shell
        self._channel = channel
        self._process_parts = process_parts
        self._lost: Lost = []
        self._restored = 0

    def restore(self, budget: TimeBudget) -> dict[str, object]:
        reader = FrameReader(self._channel)
        head = json.loads(reader.line())
        if {key: head.get(key) for key in FORMAT} != FORMAT:
            reader.drain()
            return {"status": "error", "name": "NotRestorable", "value": "this is not a namespace snapshot of version 1"}
        name = ""
        buffers: list[bytearray] = []
        early: list[tuple[str, bytes]] = []
        late: list[tuple[str, bytes]] = []
        unpickler = NamespaceUnpickler()
        packages = PackageRestorer(self._lost)
        for kind, body in reader.frames():
            if kind == b"F":
                packages.add(body)
            elif kind == b"I":
                self._import(json.loads(body), budget)
            elif kind == b"E":
                part, _, content = bytes(body).partition(b"\0")
                (early if json.loads(part) in FIRST_PARTS else late).append((json.loads(part), content))
                self._load_parts(early, budget)
            elif kind == b"N":
                name, buffers = json.loads(body), []
            elif kind == b"B":
                buffers.append(body)
            elif kind == b"P":
                try:
                    with budget:
                        self._shell.user_ns[name] = unpickler.load(name, body, buffers)
                    self._restored += 1
                except BaseException as error:
                    self._lost.append({"what": name, "reason": reason(error, budget)})
            elif kind == b"L":
                self._lost += json.loads(body)
        # After the variables: unpickling may import modules that set options and use random numbers.
        self._load_parts(late, budget)
        if isinstance(head.get("execution_count"), int):
            self._shell.execution_count = head["execution_count"]
        return {"status": "ok", "restored": self._restored, "lost": self._lost}

    def _import(self, modules: dict[str, str], budget: TimeBudget) -> None:
        for alias, module in modules.items():
            try:
                with budget:
                    self._shell.user_ns[alias] = importlib.import_module(module)
                self._restored += 1
            except BaseException as error:
                self._lost.append({"what": alias, "reason": reason(error, budget)})

    def _load_parts(self, parts: list[tuple[str, bytes]], budget: TimeBudget) -> None:
        """Applies the parts and empties the list; those that fail are named."""
        while parts:
            part, content = parts.pop(0)
            try:
                with budget:
                    self._process_parts.load(part, content)
            except BaseException as error:
                self._lost.append({"what": part, "reason": reason(error, budget)})
