"""Saves and restores the namespace inside the kernel. The format is private: a JSON line, then frames `kind, length, bytes`.

E state of the process or of a session: its name (JSON), a null byte, its bytes    N name of the next variable (JSON)    P its pickle    B one of its buffers    I imports (JSON)    L lost variables (JSON), last
"""

import importlib
import json
import pickle
import types

from . import partial_losses
from .array_views import named_views
from .channel import Channel
from .definitions import defining_line
from .language_session import LanguageSessions
from .namespace_pickler import NamespacePickler, ByteCounter
from .namespace_unpickler import NamespaceUnpickler, count_memoized
from .process_state import FIRST_PARTS, ProcessState
from .snapshot_frames import FrameReader, send_frame
from .time_budget import TimeBudget, TimeBudgetExceeded
from .unsaved_state import UnsavedState, named_signal_handlers

FORMAT = {"format": "cellblock-namespace", "v": 1}
_HISTORY_NAMES = ("_", "__", "___", "_i", "_ii", "_iii", "_exit_code")
# The objects of a smaller pickle are counted in it, those of a larger one in the memo.
_SMALL_BYTES = 64 * 1024
_SHELL = "bash session"
_R = "r session"
_PLAIN = (int, float, complex, bool, str, bytes, type(None))


def variables(shell) -> dict[str, object]:  # type: ignore[no-untyped-def]
    """The user's variables, without IPython's history, hooks and cached results."""
    hidden = shell.user_ns_hidden
    return {
        name: value
        for name, value in dict(shell.user_ns).items()
        if type(name) is str and name not in hidden and not _is_history(name) and not (name.startswith("__") and name.endswith("__"))
    }


class ProcessParts:
    """What a namespace snapshot keeps besides variables: the state of the process and of the language sessions."""

    def __init__(self, process: ProcessState, unsaved: UnsavedState, languages: LanguageSessions) -> None:
        self._process = process
        self._unsaved = unsaved
        self._languages = languages

    def dump(self, budget: TimeBudget, lost: list[dict[str, str]], max_r_bytes: int) -> dict[str, bytes]:
        parts: dict[str, bytes] = {}
        lost += named_signal_handlers()
        try:
            with budget:
                parts = self._process.dump(lost)
                lost += self._unsaved.named(self._languages.pids)
        except BaseException as error:
            lost.append({"what": "environment", "reason": _reason(error, budget)})
        try:
            with budget:
                # While the shell waits: its answers redirect its own descriptors.
                lost += [{"what": what, "reason": reason} for what, reason in self._languages.unsaved_of_shell()]
                shell = self._languages.save_shell()
            if shell is not None:
                parts[_SHELL] = shell.encode("utf-8", "replace")
        except BaseException as error:
            lost.append({"what": _SHELL, "reason": _reason(error, budget)})
        try:
            with budget:
                r = self._languages.save_r(max_r_bytes)
            if r is not None:
                parts[_R], left_out = r
                lost += [{"what": f"R variable {name}", "reason": reason} for name, reason in left_out]
        except BaseException as error:
            lost.append({"what": _R, "reason": _reason(error, budget)})
        if self._languages.has_javascript:
            lost.append({"what": "javascript session", "reason": "The variables of a JavaScript session cannot be saved."})
        return parts

    def load(self, part: str, body: bytes) -> None:
        if part == _SHELL:
            self._languages.restore_shell(body.decode("utf-8", "replace"))
        elif part == _R:
            missing = self._languages.restore_r(body)
            if missing:
                raise ValueError(f"These were not restored: {', '.join(missing)}.")
        else:
            self._process.load(part, body)


def dump(  # type: ignore[no-untyped-def]
    shell, channel: Channel, max_bytes: int, lost_before: list[dict[str, str]], budget: TimeBudget, process_parts: ProcessParts
) -> dict[str, object]:
    """Streams the namespace into the channel. A variable that cannot be kept is named with its reason and does not stop the others.

    `lost_before` lists earlier losses that no answer has reported yet.
    """
    imports: dict[str, str] = {}
    keep: list[tuple[int, str, object]] = []
    lost: list[dict[str, str]] = []
    for name, value in variables(shell).items():
        try:
            with budget:
                # Its class: what a value says of itself may raise or be wrong.
                if issubclass(type(value), types.ModuleType):
                    imports[name] = _module_name(value)
                    continue
                size = _size(value)
            keep.append((size, name, value))
        except BaseException as error:
            lost.append(_lost_variable(shell, name, error, budget))
    lost += named_views((name, value) for _, name, value in keep)
    lost_of_process: list[dict[str, str]] = []
    parts = process_parts.dump(budget, lost_of_process, max_bytes // 4)
    total = sum(size for size, _, _ in keep) + sum(map(len, parts.values()))
    for size, name, _ in sorted(keep, key=lambda entry: -entry[0]):
        if total <= max_bytes:
            break
        total -= size
        lost.append({"what": name, "reason": "too_large"})
    dropped = {entry["what"] for entry in lost}
    unnamed = sum(type(name) is not str for name in dict(shell.user_ns))
    if unnamed:
        # After `dropped`, because a variable may have this name.
        lost.append({"what": "namespace", "reason": f"{unnamed} of its keys are no text. Only names can be saved."})
    lost = lost_before + lost + lost_of_process
    head = {**FORMAT, "execution_count": shell.execution_count}
    channel.send_bulk(json.dumps(head).encode() + b"\n")
    for part, body in parts.items():
        send_frame(channel, b"E", json.dumps(part).encode() + b"\0" + body)
    send_frame(channel, b"I", json.dumps(imports).encode())
    buffers: list[memoryview] = []
    sink = _PickleParts()
    pickler = NamespacePickler(sink, lambda buffer: buffers.append(buffer.raw()))
    # Objects in the memo.
    count = 0
    # Definitions come first, so that they do not depend on a variable that cannot be restored.
    for _, name, value in sorted(keep, key=lambda entry: not issubclass(type(entry[2]), (type, types.FunctionType))):
        if name in dropped:
            continue
        try:
            with budget:
                partial_losses.take(name)
                pickler.dump(value)
            lost += partial_losses.take(name)
        except BaseException as error:
            # It could be pickled before: user code changes it meanwhile. Its objects in the memo were never sent.
            lost.append(_lost_variable(shell, name, error, budget))
            pickler.memo = {key: entry for key, entry in pickler.memo.copy().items() if entry[0] < count}
            sink.take()
            buffers.clear()
            continue
        pieces = sink.take()
        count = count + count_memoized(pieces) if sum(map(len, pieces)) <= _SMALL_BYTES else len(pickler.memo.copy())
        send_frame(channel, b"N", json.dumps(name).encode())
        for content in buffers:
            send_frame(channel, b"B", content)
        send_frame(channel, b"P", *pieces)
        buffers.clear()
    send_frame(channel, b"L", json.dumps(lost).encode())
    return {"status": "ok", "lost": lost}


def load(shell, channel: Channel, budget: TimeBudget, process_parts: ProcessParts) -> dict[str, object]:  # type: ignore[no-untyped-def]
    """Reads a snapshot from the channel until its empty packet. A failed variable is named; the others are restored."""
    reader = FrameReader(channel)
    head = json.loads(reader.line())
    if {key: head.get(key) for key in FORMAT} != FORMAT:
        reader.drain()
        return {"status": "error", "name": "NotRestorable", "value": "this is not a namespace snapshot of version 1"}
    lost: list[dict[str, str]] = []
    restored = 0
    name = ""
    buffers: list[bytearray] = []
    early: list[tuple[str, bytes]] = []
    late: list[tuple[str, bytes]] = []
    unpickler = NamespaceUnpickler()
    for kind, body in reader.frames():
        if kind == b"I":
            for alias, module in json.loads(body).items():
                try:
                    with budget:
                        shell.user_ns[alias] = importlib.import_module(module)
                    restored += 1
                except BaseException as error:
                    lost.append({"what": alias, "reason": _reason(error, budget)})
        elif kind == b"E":
            part, _, content = bytes(body).partition(b"\0")
            (early if json.loads(part) in FIRST_PARTS else late).append((json.loads(part), content))
            _load_parts(process_parts, early, budget, lost)
        elif kind == b"N":
            name, buffers = json.loads(body), []
        elif kind == b"B":
            buffers.append(body)
        elif kind == b"P":
            try:
                with budget:
                    shell.user_ns[name] = unpickler.load(name, body, buffers)
                restored += 1
            except BaseException as error:
                lost.append({"what": name, "reason": _reason(error, budget)})
        elif kind == b"L":
            lost += json.loads(body)
    # After the variables: unpickling may import modules that set options and use random numbers.
    _load_parts(process_parts, late, budget, lost)
    if isinstance(head.get("execution_count"), int):
        shell.execution_count = head["execution_count"]
    return {"status": "ok", "restored": restored, "lost": lost}


def _load_parts(process_parts: ProcessParts, parts: list[tuple[str, bytes]], budget: TimeBudget, lost: list[dict[str, str]]) -> None:
    """Applies the parts and empties the list; those that fail are named."""
    while parts:
        part, content = parts.pop(0)
        try:
            with budget:
                process_parts.load(part, content)
        except BaseException as error:
            lost.append({"what": part, "reason": _reason(error, budget)})


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


def _lost_variable(shell, name: str, error: BaseException, budget: TimeBudget) -> dict[str, str]:  # type: ignore[no-untyped-def]
    return {"what": name, "reason": f"{_reason(error, budget)[:180]}. {defining_line(shell, name)}".removesuffix(". ")}


def _reason(error: BaseException, budget: TimeBudget) -> str:
    """User code raises what it likes, SystemExit included, and its `__str__` may fail or take long as well."""
    # Not with a property of its metaclass.
    kind = type.__dict__["__name__"].__get__(type(error))
    try:
        if type(error) is TimeBudgetExceeded:
            return f"{kind}: {error}"
        with budget:
            return f"{kind}: {error}"[:300]
    except BaseException:
        return kind[:300]
