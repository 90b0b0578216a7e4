"""Types, bounds and normalises every message of the worker, in one place, before any other module uses it.

The worker is hostile. A field of the wrong type gets a safe value; a message that makes no sense becomes `Malformed`. Nothing here raises.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

MAX_COUNT = 2**31
# A larger claim is not believed.
MAX_CLAIMED_BYTES = 1 << 40
MAX_ID_CHARACTERS = 1024
MAX_MIME_CHARACTERS = 255
MAX_MIME_TYPES = 64
MAX_LOST = 10_000
MAX_LOST_CHARACTERS = 1024
# Reasons for which a kernel may withhold a display.
OMIT_REASONS = ("bundle_too_large", "too_many_displays", "max_display_bytes")

_DISPLAYS = {"display": "display_data", "result": "execute_result", "update": "update_display_data"}


@dataclass(frozen=True)
class CellStarted:
    count: int | None


@dataclass(frozen=True)
class Display:
    """`data` and `metadata` are JSON objects whose values `normalize_bundle` has still to check."""

    output_type: str
    data: dict[str, object]
    metadata: dict[str, object]
    display_id: str | None
    count: int | None


@dataclass(frozen=True)
class OmittedDisplays:
    bytes: int
    reason: str


@dataclass(frozen=True)
class PlainEvent:
    """An event that needs no further check: its type and fields as in PROTOCOL.md, without the cell."""

    type: str
    fields: dict[str, object]


@dataclass(frozen=True)
class CellError:
    """`cut_bytes` is the number of bytes that the kernel says it removed."""

    name: str
    value: str
    traceback: list[str]
    cut_bytes: int


@dataclass(frozen=True)
class Malformed:
    """A message that no kernel of ours sends."""


Output = CellStarted | Display | OmittedDisplays | PlainEvent | CellError | Malformed


@dataclass(frozen=True)
class Reply:
    """The end of a request. `restored` and `lost` belong to snapshots and restores."""

    ok: bool
    name: str
    value: str
    cut_bytes: int
    restored: int
    lost: list[dict[str, str]]


def parse_output(message: Mapping[str, object]) -> Output:
    op = message.get("op")
    if op == "input":
        return CellStarted(_count(message.get("count")))
    if isinstance(op, str) and op in _DISPLAYS:
        return _display(_DISPLAYS[op], message)
    if op == "omitted":
        reason = message.get("reason")
        return OmittedDisplays(_size(message.get("bytes")), reason) if isinstance(reason, str) and reason in OMIT_REASONS else Malformed()
    if op == "clear":
        return PlainEvent("clear_output", {"wait": message.get("wait") is True})
    if op == "error":
        lines = message.get("traceback")
        return CellError(
            _text(message.get("name")),
            _text(message.get("value")),
            [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else [],
            _size(message.get("cut_bytes")),
        )
    return Malformed()


def parse_reply(message: Mapping[str, object]) -> Reply:
    lost = message.get("lost")
    return Reply(
        ok=message.get("status") == "ok",
        name=_text(message.get("name"))[:MAX_ID_CHARACTERS],
        value=_text(message.get("value")),
        cut_bytes=_size(message.get("cut_bytes")),
        restored=_count(message.get("restored")) or 0,
        lost=[_loss(entry) for entry in lost[:MAX_LOST]] if isinstance(lost, list) else [],
    )


def normalize_bundle(data: Mapping[str, object]) -> tuple[dict[str, object], bool]:
    """The bundle as clients expect it, and whether an entry was dropped.

    A JSON type keeps its value. Every other type becomes text: a list of strings is joined, any other value becomes its JSON text.
    """
    bundle: dict[str, object] = {}
    for mime, value in data.items():
        if value is None or len(mime) > MAX_MIME_CHARACTERS or len(bundle) >= MAX_MIME_TYPES:
            continue
        bundle[mime] = value if is_json_mime(mime) else _as_text(value)
    return bundle, len(bundle) < len(data)


def is_json_mime(mime: str) -> bool:
    essence = mime.partition(";")[0].strip().lower()
    return essence == "application/json" or (essence.startswith("application/") and essence.endswith("+json"))


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "".join(value)
    return json.dumps(value, ensure_ascii=False)


def _display(output_type: str, message: Mapping[str, object]) -> Display | Malformed:
    data, metadata, transient = message.get("data"), message.get("metadata"), message.get("transient")
    if not isinstance(data, dict):
        return Malformed()
    display_id = transient.get("display_id") if isinstance(transient, dict) else None
    if not isinstance(display_id, str) or len(display_id) > MAX_ID_CHARACTERS:
        display_id = None
    if output_type == "update_display_data" and display_id is None:
        return Malformed()
    count = _count(message.get("count")) if output_type == "execute_result" else None
    return Display(output_type, data, metadata if isinstance(metadata, dict) else {}, display_id, count)


def _loss(entry: object) -> dict[str, str]:
    fields = entry if isinstance(entry, dict) else {}
    return {name: _text(fields.get(name))[:MAX_LOST_CHARACTERS] for name in ("what", "reason")}


def _count(value: object) -> int | None:
    # bool is a subclass of int, and `true` is no number on the wire.
    return value if type(value) is int and 0 <= value < MAX_COUNT else None


def _size(value: object) -> int:
    return value if type(value) is int and 0 <= value <= MAX_CLAIMED_BYTES else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
