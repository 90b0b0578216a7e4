"""Turns what the kernel sends during one execution into events, within the caps, and remembers what was left out."""

import asyncio
import json

from . import json_guard
from .event_log import EventLog
from .head_tail_stream import HeadTailStream

MAX_BUNDLE_BYTES = 10 * 1024 * 1024
MAX_DISPLAY_BYTES = 20 * 1024 * 1024
MAX_DISPLAY_EVENTS = 5_000
MAX_TRACEBACK_BYTES = 256 * 1024
MAX_ERROR_NAME_CHARACTERS = 1024
MAX_ERROR_VALUE_CHARACTERS = 64 * 1024
# A claim of more than this is no size.
MAX_CLAIMED_BYTES = 1 << 40
# Why a kernel may say that it did not send a display.
OMITTED = ("bundle_too_large", "too_many_displays", "max_display_bytes")
# Text waits this long for company; the more events there are already, the longer, so a slow drip stays bounded too.
COALESCE_SECONDS = ((200, 0.02), (2_000, 0.1), (20_000, 1.0))
QUIET_SECONDS = 0.02


class Outputs:
    """One per execution. `index` is the cell that runs."""

    def __init__(self, log: EventLog, head_bytes: int, tail_bytes: int, max_displays: int = MAX_DISPLAY_EVENTS) -> None:
        self._log = log
        self._max_displays = max_displays
        self._streams = {
            name: HeadTailStream(head_bytes, tail_bytes, lambda text, name=name: self._emit_text(name, text))
            for name in ("stdout", "stderr")
        }
        self.index = 0
        self._timer: asyncio.TimerHandle | None = None
        self._sent_at = 0.0
        self._display_bytes = 0
        self._display_events = 0
        self._dropped_displays: dict[str, int] = {}
        self._dropped_bytes = 0
        self._error_bytes = 0
        self._error_kept_bytes = 0
        self._has_changed_numbers = False
        self._tail_bytes = tail_bytes
        self._claims_left = MAX_CLAIMED_BYTES

    def room(self) -> dict[str, int]:
        """What the kernel may still send of each kind before all of it would be thrown away, the end of its streams excepted."""
        heads = {name: stream.head_left for name, stream in self._streams.items()}
        displays = {"display_bytes": MAX_DISPLAY_BYTES - self._display_bytes, "displays": self._max_displays - self._display_events}
        return {**heads, "tail": self._tail_bytes, "bundle": MAX_BUNDLE_BYTES, **displays}

    def tail_limit(self, name: str) -> int | None:
        """How many bytes of the end of what a stream still says are kept; None while its head has room."""
        return None if self._streams[name].head_left > 0 else self._tail_bytes

    def skipped(self, name: str, size: int) -> None:
        """Bytes that nobody sent. The kernel's count of them is a claim, and all claims together have a bound."""
        self._streams[name].skip(self._claim(size))

    def omitted(self, size: object, reason: object) -> None:
        """Displays that the kernel did not send."""
        if isinstance(size, int) and reason in OMITTED:
            self.dropped(self._claim(size), str(reason))

    def _claim(self, size: int) -> int:
        claimed = max(0, min(size, self._claims_left))
        self._claims_left -= claimed
        return claimed

    @property
    def total_bytes(self) -> int:
        return sum(stream.total_bytes for stream in self._streams.values())

    @property
    def output_bytes(self) -> int:
        return self.total_bytes + self._display_bytes + self._dropped_bytes

    def text(self, name: str, data: bytes | memoryview) -> None:
        stream = self._streams[name]
        if not stream.has_pending:
            # Events keep the order in which the two streams were written.
            self._streams["stderr" if name == "stdout" else "stdout"].flush()
        stream.add(data)
        if not stream.has_pending or self._timer is not None:
            return
        loop = asyncio.get_running_loop()
        if loop.time() - self._sent_at > QUIET_SECONDS and data[-1:] == b"\n":
            self.flush()
        else:
            self._timer = loop.call_later(self._coalesce_delay(), self._on_timer)

    def flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for stream in self._streams.values():
            stream.flush()

    def finish(self) -> None:
        self.flush()
        for stream in self._streams.values():
            stream.finish()

    def display(self, output_type: str, message: dict[str, object], count: int | None) -> None:
        transient = message.get("transient")
        display_id = transient.get("display_id") if isinstance(transient, dict) else None
        fields: dict[str, object] = {"data": message.get("data"), "metadata": message.get("metadata") or {}}
        if output_type == "update_display_data":
            self._put("update_display", {"display_id": str(display_id), **fields})
            return
        if count is not None:
            fields["execution_count"] = count
        if display_id is not None:
            fields["transient"] = {"display_id": str(display_id)}
        self._put("display", {"output_type": output_type, **fields})

    def clear(self, wait: bool) -> None:
        self._put("clear_output", {"wait": wait})

    def error(self, name: str, value: str, traceback: list[str], cut_bytes: object) -> None:
        """`cut_bytes` is what the kernel says it left out already; a claim, like everything from there."""
        self.flush()
        kept, left = [], MAX_TRACEBACK_BYTES
        for line in traceback:
            left -= len(line)
            if left < 0:
                break
            kept.append(line)
        shown = [name[:MAX_ERROR_NAME_CHARACTERS], value[:MAX_ERROR_VALUE_CHARACTERS], *kept]
        shown_bytes = _size(shown)
        claimed = cut_bytes if isinstance(cut_bytes, int) and 0 <= cut_bytes <= MAX_CLAIMED_BYTES else 0
        missing = _size([name, value, *traceback]) - shown_bytes + claimed
        if missing > 0:
            self._error_bytes += shown_bytes + missing
            self._error_kept_bytes += shown_bytes
        if len(kept) < len(traceback):
            kept.append("... the rest of the traceback is too long")
        fields = {"name": shown[0], "value": shown[1], "traceback": kept}
        self._log.append("error", {"index": self.index, **_clean_texts(fields)})

    def dropped(self, size: int, reason: str) -> None:
        """A display that never became an event."""
        self._dropped_bytes += size
        self._dropped_displays[reason] = self._dropped_displays.get(reason, 0) + size

    def truncated(self) -> list[dict[str, object]]:
        told: list[dict[str, object]] = [
            {"what": name, "total_bytes": stream.total_bytes, "kept_bytes": stream.kept_bytes, "reason": "max_output_bytes"}
            for name, stream in self._streams.items()
            if stream.kept_bytes < stream.total_bytes
        ]
        for reason, size in self._dropped_displays.items():
            total = self._display_bytes + size
            told.append({"what": "display", "total_bytes": total, "kept_bytes": self._display_bytes, "reason": reason})
        if self._has_changed_numbers:
            size = self._display_bytes
            told.append({"what": "display", "total_bytes": size, "kept_bytes": size, "reason": "numbers_changed"})
        if self._error_kept_bytes < self._error_bytes:
            kept = self._error_kept_bytes
            told.append({"what": "error", "total_bytes": self._error_bytes, "kept_bytes": kept, "reason": "max_error_bytes"})
        return told

    def _put(self, kind: str, fields: dict[str, object]) -> None:
        self.flush()
        try:
            cleaned, has_changed = json_guard.clean({"index": self.index, **fields})
        except json_guard.NotAcceptable as refusal:
            self.dropped(0, str(refusal))
            return
        fields = cleaned  # type: ignore[assignment]
        data = fields.get("data", {})
        if not isinstance(data, dict):
            self.dropped(0, "not_json")
            return
        for mime in [mime for mime, value in data.items() if isinstance(value, dict) and "cellblock/dropped" in value]:
            size = data.pop(mime)["cellblock/dropped"]
            self.dropped(self._claim(size) if isinstance(size, int) else 0, "bundle_too_large")
        size = sum(len(value) if isinstance(value, str) else len(json.dumps(value)) for value in data.values())
        size += len(json.dumps(fields.get("metadata", {})))
        if "data" in fields and not data:
            return
        if size > MAX_BUNDLE_BYTES:
            self.dropped(size, "bundle_too_large")
        elif self._display_events >= self._max_displays:
            self.dropped(size, "too_many_displays")
        elif self._display_bytes + size > MAX_DISPLAY_BYTES:
            self.dropped(size, "max_display_bytes")
        else:
            self._display_bytes += size
            self._display_events += 1
            self._has_changed_numbers = self._has_changed_numbers or has_changed
            self._log.append(kind, fields)

    def _emit_text(self, name: str, text: str) -> None:
        self._sent_at = asyncio.get_running_loop().time()
        self._log.append("stream", {"index": self.index, "name": name, "text": text})

    def _on_timer(self) -> None:
        self._timer = None
        self.flush()

    def _coalesce_delay(self) -> float:
        for count, seconds in COALESCE_SECONDS:
            if self._log.next_seq < count:
                return seconds
        return 5.0


def _size(texts: list[str]) -> int:
    return sum(len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text in texts)


def _clean_texts(fields: dict[str, object]) -> dict[str, object]:
    return {
        key: [json_guard.clean_text(line) for line in value] if isinstance(value, list) else json_guard.clean_text(str(value))
        for key, value in fields.items()
    }
