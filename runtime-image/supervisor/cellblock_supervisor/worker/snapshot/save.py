"""Saves the namespace inside the kernel: a variable that cannot be kept is named with its reason and does not stop the others."""

import json
import pickle
import types
from typing import Any

from ..channel.channel import Channel
from .array_views import named_views
from .frames import FORMAT, send_frame
from .installed_packages import InstalledPackages
from .losses import Lost, lost_variable
from .namespace_pickler import ByteCounter, NamespacePickler
from .namespace_unpickler import count_memoized
from .process_parts import ProcessParts
from .time_budget import TimeBudget
from .values import partial_losses

_HISTORY_NAMES = ("_", "__", "___", "_i", "_ii", "_iii", "_exit_code")
# The objects of a smaller pickle are counted in it, those of a larger one in the memo.
_SMALL_BYTES = 64 * 1024
_PLAIN = (int, float, complex, bool, str, bytes, type(None))
# A variable: the size of its pickle, its name, its value.
_Variable = tuple[int, str, object]


class NamespaceSaver:
    """Streams the namespace of a shell into the channel."""

    def __init__(self, shell: Any, channel: Channel, process_parts: ProcessParts) -> None:
        self._shell = shell
        self._channel = channel
        self._process_parts = process_parts

    def save(self, max_bytes: int, lost_before: Lost, budget: TimeBudget) -> dict[str, object]:
        """`lost_before` lists earlier losses that no answer has reported yet."""
        imports: dict[str, str] = {}
        lost: Lost = []
        kept = self._measured(imports, lost, budget)
        lost += named_views((name, value) for _, name, value in kept)
        lost_of_process: Lost = []
        parts = self._process_parts.dump(budget, lost_of_process, max_bytes // 4)
        packages = InstalledPackages(max_bytes // 2, lost_of_process)
        lost += _too_large(kept, max_bytes - packages.size - sum(map(len, parts.values())))
        dropped = {entry["what"] for entry in lost}
        unnamed = sum(type(name) is not str for name in dict(self._shell.user_ns))
        if unnamed:
            # After `dropped`, because a variable may have this name.
            lost.append({"what": "namespace", "reason": f"{unnamed} of its keys are no text. Only names can be saved."})
        lost = lost_before + lost + lost_of_process
        self._channel.send_bulk(json.dumps({**FORMAT, "execution_count": self._shell.execution_count}).encode() + b"\n")
        packages.send(self._channel)
        for part, body in parts.items():
            send_frame(self._channel, b"E", json.dumps(part).encode() + b"\0" + body)
        send_frame(self._channel, b"I", json.dumps(imports).encode())
        # Definitions come first, so that they do not depend on a variable that cannot be restored.
        ordered = sorted(kept, key=lambda entry: not issubclass(type(entry[2]), (type, types.FunctionType)))
        lost += self._send_variables([entry for entry in ordered if entry[1] not in dropped], budget)
        send_frame(self._channel, b"L", json.dumps(lost).encode())
        return {"status": "ok", "lost": lost}

    def _measured(self, imports: dict[str, str], lost: Lost, budget: TimeBudget) -> list[_Variable]:
        """The variables that can be pickled. Modules are added to `imports`, the others to `lost`."""
        kept: list[_Variable] = []
        for name, value in variables(self._shell).items():
            try:
                with budget:
                    # Its class: what a value says of itself may raise or be wrong.
                    if issubclass(type(value), types.ModuleType):
                        imports[name] = _module_name(value)
                        continue
                    size = _size(value)
                kept.append((size, name, value))
            except BaseException as error:
                lost.append(lost_variable(self._shell, name, error, budget))
        return kept

    def _send_variables(self, kept: list[_Variable], budget: TimeBudget) -> Lost:
        """Returns what was lost on the way."""
        lost: Lost = []
        buffers: list[memoryview] = []
        sink = _PickleParts()
        pickler = NamespacePickler(sink, lambda buffer: buffers.append(buffer.raw()))
        # Objects in the memo.
        count = 0
        for _, name, value in kept:
            try:
                with budget:
                    partial_losses.take(name)
                    pickler.dump(value)
                lost += partial_losses.take(name)
            except BaseException as error:
                # It could be pickled before: user code changes it meanwhile. Its objects in the memo were never sent.
                lost.append(lost_variable(self._shell, name, error, budget))
                pickler.memo = {key: entry for key, entry in pickler.memo.copy().items() if entry[0] < count}
                sink.take()
                buffers.clear()
                continue
            pieces = sink.take()
            count = count + count_memoized(pieces) if sum(map(len, pieces)) <= _SMALL_BYTES else len(pickler.memo.copy())
            send_frame(self._channel, b"N", json.dumps(name).encode())
            for content in buffers:
                send_frame(self._channel, b"B", content)
            send_frame(self._channel, b"P", *pieces)
            buffers.clear()
        return lost


def variables(shell: Any) -> dict[str, object]:
    """The user's variables, without IPython's history, hooks and cached results."""
    hidden = shell.user_ns_hidden
    return {
        name: value
        for name, value in dict(shell.user_ns).items()
        if type(name) is str and name not in hidden and not _is_history(name) and not (name.startswith("__") and name.endswith("__"))
    }


def _too_large(kept: list[_Variable], max_bytes: int) -> Lost:
    """The largest ones, until the others have at most `max_bytes` together."""
    lost: Lost = []
    total = sum(size for size, _, _ in kept)
    for size, name, _ in sorted(kept, key=lambda entry: -entry[0]):
        if total <= max_bytes:
            break
        total -= size
        lost.append({"what": name, "reason": "too_large"})
    return lost


class _PickleParts:
    """Collects one variable's pickle without joining it."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> list[bytes]:
        parts, self._parts = self._parts, []
        return parts


def _size(value: object) -> int:
    """The size of the pickle; raises what pickling raises."""
    if type(value) in _PLAIN:
        return len(value) if isinstance(value, (str, bytes)) else 64
    nowhere = ByteCounter()
    NamespacePickler(nowhere, nowhere.buffer).dump(value)
    return nowhere.size


def _is_history(name: str) -> bool:
    return name in _HISTORY_NAMES or (name.startswith("_") and name.removeprefix("_").removeprefix("i").isdigit())


def _module_name(module: types.ModuleType) -> str:
    """Not with the module's own `__getattr__`. Raises ValueError."""
    name = types.ModuleType.__getattribute__(module, "__name__")
    if type(name) is not str:
        raise ValueError("A module without a name cannot be imported again")
    return name
