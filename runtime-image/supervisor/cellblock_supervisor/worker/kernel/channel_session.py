"""Turns the messages of ipykernel into messages of the channel."""

import json
import sys
import threading
from binascii import b2a_base64

from jupyter_client.jsonutil import json_default
from jupyter_client.session import Session
from traitlets import Any, Unicode

from ..channel.channel import Channel
from ..libraries import widget_output

# Saves copying only: the supervisor enforces its own caps.
MAX_BUNDLE_CHARACTERS = 12 * 1024 * 1024
MAX_LINE_CHARACTERS = 32 * 1024
MAX_VALUE_CHARACTERS = 64 * 1024
MAX_TRACEBACK_LINES = 200


class ChannelSession(Session):
    """A Jupyter session without a socket: displays and errors are sent over the channel, every other message is dropped."""

    channel: Channel = Any()
    request_id = Unicode("")

    def __init__(self, **traits: object) -> None:
        super().__init__(**traits)
        self._lock = threading.RLock()
        self.set_limits(sys.maxsize, sys.maxsize, sys.maxsize)

    def set_limits(self, each: int, together: int, count: int) -> None:
        """From now on displays beyond these sizes or this number are counted instead of sent."""
        with self._lock:
            self._bundle_bytes, self._bytes_left, self._displays_left = each, together, count
            self._omitted: dict[str, int] = {}

    def release(self) -> None:
        """Reports the displays that were not sent, by reason and with the bytes of their texts."""
        with self._lock:
            omitted, self._omitted = self._omitted, {}
        for reason, size in omitted.items():
            self.channel.send_message({"op": "omitted", "id": self.request_id, "reason": reason, "bytes": size})

    def send(self, stream, msg_or_type, content=None, parent=None, **_transport):  # type: ignore[no-untyped-def]
        """Called by ipykernel's display publisher, display hook and traceback printer, from any thread."""
        if isinstance(msg_or_type, dict):
            kind, content = msg_or_type["header"]["msg_type"], msg_or_type["content"]
        else:
            kind = msg_or_type
        build = _MESSAGES.get(kind)
        if build is not None and content is not None and not _is_void(kind, content):
            message = build(content)
            if "data" not in message or self._is_within_limits(message["data"], message["metadata"]):
                # As in Jupyter's sessions: dates as ISO 8601, NumPy's numbers as numbers.
                self.channel.send_message({"id": self.request_id, **message}, default=json_default)
        return {"content": content, "header": {"msg_type": kind}}

    def _is_within_limits(self, data: dict[str, object], metadata: object) -> bool:
        """False when the supervisor would certainly drop the display. It counts values that are no text too; here they count as nothing."""
        size = sum(len(value) for value in data.values() if isinstance(value, str))
        with self._lock:
            if size > self._bundle_bytes:
                reason = "bundle_too_large"
            elif self._displays_left <= 0:
                reason = "too_many_displays"
            elif size > self._bytes_left:
                reason = "max_display_bytes"
            else:
                self._bytes_left -= size
                self._displays_left -= 1
                return True
            self._omitted[reason] = self._omitted.get(reason, 0) + size + len(json.dumps(metadata, default=json_default))
        return False


def _is_void(kind: str, content: dict[str, object]) -> bool:
    """Displays without content, and clears that a widget wants for its area only."""
    if kind == "clear_output":
        return widget_output.is_open()
    return "data" in content and content["data"] in ({}, {"text/plain": ""})


def _display(content: dict[str, object]) -> dict[str, object]:
    return {
        "op": "display",
        "data": _capped(content["data"]),
        "metadata": content.get("metadata") or {},
        "transient": content.get("transient") or {},
    }


def _result(content: dict[str, object]) -> dict[str, object]:
    return {**_display(content), "op": "result", "count": content.get("execution_count")}


def _error(content: dict[str, object]) -> dict[str, object]:
    lines = [str(line) for line in content["traceback"]]
    shown = [line[:MAX_LINE_CHARACTERS] for line in lines[:MAX_TRACEBACK_LINES]]
    value = content["evalue"][:MAX_VALUE_CHARACTERS]
    cut = _size([content["evalue"], *lines]) - _size([value, *shown])
    marked = [f"{part}..." if len(part) < len(line) else part for part, line in zip(shown, lines, strict=False)]
    return {"op": "error", "name": content["ename"], "value": value, "traceback": marked, "cut_bytes": cut}


def _size(texts: list[str]) -> int:
    """Bytes as UTF-8; lone surrogates count too."""
    return sum(len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text in texts)


_MESSAGES = {
    "display_data": _display,
    "execute_result": _result,
    "update_display_data": lambda content: {**_display(content), "op": "update"},
    "clear_output": lambda content: {"op": "clear", "wait": bool(content.get("wait"))},
    "error": _error,
}


def _capped(data: object) -> object:
    """Replaces the largest representations by their size until the bundle is small enough.

    Pictures may come as bytes (Pillow's do); Jupyter encodes bytes as base64.
    """
    if not isinstance(data, dict):
        return {}
    kept = {mime: b2a_base64(value, newline=False).decode() if isinstance(value, bytes) else value for mime, value in data.items()}
    sizes = {mime: len(value) if isinstance(value, str) else 0 for mime, value in kept.items()}
    while kept and sum(sizes[mime] for mime in kept) > MAX_BUNDLE_CHARACTERS:
        largest = max(kept, key=lambda mime: sizes[mime])
        kept[largest] = {"cellblock/dropped": sizes[largest]}
        sizes[largest] = 0
    return kept
