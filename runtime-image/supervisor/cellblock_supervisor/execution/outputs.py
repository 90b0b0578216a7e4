"""Turns what the worker sends during one execution into events, within the caps, and records what was left out."""

import asyncio
import json
from json.encoder import encode_basestring

from . import json_guard
from .event_log import PLAIN_HEAD_BYTES, EventLog
from .head_tail_stream import HeadTailStream
from .worker_messages import MAX_CLAIMED_BYTES, Display, OmittedDisplays, PlainEvent, normalize_bundle

MAX_BUNDLE_BYTES = 10 * 1024 * 1024
MAX_DISPLAY_BYTES = 20 * 1024 * 1024
MAX_DISPLAY_EVENTS = 5_000
# Errors of one execution, together.
MAX_ERROR_BYTES = 4 * 1024 * 1024
MAX_ERROR_EVENTS = 1_000
MAX_TRACEBACK_BYTES = 256 * 1024
MAX_TRACEBACK_LINES = 1_000
MAX_ERROR_NAME_CHARACTERS = 1024
MAX_ERROR_VALUE_CHARACTERS = 64 * 1024
# Length of an error past the caps: the cell must still say why it failed.
_SHORT_ERROR_CHARACTERS = 4096
# Text waits this long for more text, except a line after a pause. The delay grows with the number of events, so that slow dripping output
# stays bounded too.
COALESCE_SECONDS = ((200, 0.02), (2_000, 0.1), (20_000, 1.0))
# Each change between the two streams starts an event, so that readers see their order. Code that changes more often than this is shown
# stream by stream for the rest of a delay.
MAX_STREAM_CHANGES = 2_000
STREAM_CHANGES_PER_DELAY = 16
# ASCII characters that JSON writes as they are.
_UNESCAPED = bytes(byte for byte in range(0x20, 0x80) if byte not in b'"\\')


class Outputs:
    """One per execution. `index` is the cell that runs.

    Past `max_total_bytes` displays and errors are dropped: the execution is about to be stopped, and must not grow until then.
    """

    def __init__(
        self,
        log: EventLog,
        head_bytes: int,
        tail_bytes: int,
        max_displays: int = MAX_DISPLAY_EVENTS,
        max_total_bytes: int | None = None,
    ) -> None:
        self._log = log
        self._max_displays = max_displays
        self._max_total_bytes = max_total_bytes
        self._streams = {
            name: HeadTailStream(head_bytes, tail_bytes, lambda text, name=name: self._emit_text(name, text))
            for name in ("stdout", "stderr")
        }
        self.index = 0
        self._timer: asyncio.TimerHandle | None = None
        self._sent_at = 0.0
        self._stream_changes_left = MAX_STREAM_CHANGES
        self._display_bytes = 0
        self._display_events = 0
        self._dropped_displays: dict[str, int] = {}
        self._dropped_bytes = 0
        # Errors: what came in all, what became events, and the same of those that were cut or dropped.
        self._error_bytes = 0
        self._error_event_bytes = 0
        self._error_events = 0
        self._cut_error_bytes = 0
        self._cut_error_kept_bytes = 0
        self._has_changed_numbers = False
        self._tail_bytes = tail_bytes
        self._claims_left = MAX_CLAIMED_BYTES

    def budget(self) -> dict[str, int]:
        """How much of each kind the kernel may still send before the supervisor would drop all of it, the tail of its streams excepted."""
        heads = {name: stream.head_left for name, stream in self._streams.items()}
        displays = {"display_bytes": MAX_DISPLAY_BYTES - self._display_bytes, "displays": self._max_displays - self._display_events}
        return {**heads, "tail": self._tail_bytes, "bundle": MAX_BUNDLE_BYTES, **displays}

    def tail_limit(self, name: str) -> int | None:
        """How many bytes of the stream's end are kept; None while its head is not full."""
        return None if self._streams[name].head_left > 0 else self._tail_bytes

    def skipped(self, name: str, size: int) -> None:
        """Counts bytes that were never sent. The count is the kernel's claim; all claims together are bounded."""
        self._streams[name].skip(self._bounded_claim(size))

    def omitted(self, displays: OmittedDisplays) -> None:
        """Displays that the kernel withheld."""
        self.dropped(self._bounded_claim(displays.bytes), displays.reason)

    def _bounded_claim(self, size: int) -> int:
        claimed = max(0, min(size, self._claims_left))
        self._claims_left -= claimed
        return claimed

    @property
    def total_bytes(self) -> int:
        return sum(stream.total_bytes for stream in self._streams.values())

    @property
    def output_bytes(self) -> int:
        return self.total_bytes + self._display_bytes + self._dropped_bytes + self._error_bytes

    @property
    def is_over_total(self) -> bool:
        return self._max_total_bytes is not None and self.output_bytes > self._max_total_bytes

    def text(self, name: str, data: bytes | memoryview) -> None:
        stream = self._streams[name]
        other = self._streams["stderr" if name == "stdout" else "stdout"]
        if other.has_pending and not stream.has_pending and self._stream_changes_left > 0:
            self._stream_changes_left -= 1
            other.flush()
        if self._log.crowded:
            stream.shrink_head(PLAIN_HEAD_BYTES)
        stream.add(data)
        if not stream.has_pending or self._timer is not None:
            return
        loop = asyncio.get_running_loop()
        delay = self._coalesce_delay()
        if loop.time() - self._sent_at > delay and data[-1:] == b"\n":
            self.flush()
        else:
            self._timer = loop.call_later(delay, self._on_timer)

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

    def display(self, display: Display) -> None:
        fields: dict[str, object] = {"data": display.data, "metadata": display.metadata}
        if display.output_type == "update_display_data":
            self._append("update_display", {"display_id": display.display_id, **fields})
            return
        if display.count is not None:
            fields["execution_count"] = display.count
        if display.display_id is not None:
            fields["transient"] = {"display_id": display.display_id}
        self._append("display", {"output_type": display.output_type, **fields})

    def plain(self, event: PlainEvent) -> None:
        self._append(event.type, event.fields)

    def error(self, name: str, value: str, traceback: list[str], cut_bytes: int) -> bool:
        """Appends an error within the caps; False when it was dropped. `cut_bytes` is the kernel's claim of what it removed."""
        kept, left = [], MAX_TRACEBACK_BYTES
        for line in traceback:
            left -= _utf8_bytes([line])
            if left < 0 or len(kept) == MAX_TRACEBACK_LINES:
                break
            kept.append(line)
        shown = [name[:MAX_ERROR_NAME_CHARACTERS], value[:MAX_ERROR_VALUE_CHARACTERS], *kept]
        total = _utf8_bytes([name, value, *traceback]) + self._bounded_claim(cut_bytes)
        is_kept = (
            not self.is_over_total
            and self._error_events < MAX_ERROR_EVENTS
            and self._error_event_bytes + _utf8_bytes(shown) <= MAX_ERROR_BYTES
        )
        if len(kept) < len(traceback):
            kept.append("... the rest of the traceback is too long")
        self._put_error(shown[0], shown[1], kept, total, _utf8_bytes(shown) if is_kept else None)
        return is_kept

    def short_error(self, name: str, value: str) -> None:
        """The error of a cell whose own message was dropped or never came. One per cell, whatever the caps say."""
        shown = [name[:MAX_ERROR_NAME_CHARACTERS], value[:_SHORT_ERROR_CHARACTERS]]
        self._put_error(shown[0], shown[1], [], _utf8_bytes([name, value]), _utf8_bytes(shown))

    def _put_error(self, name: str, value: str, traceback: list[str], total: int, kept: int | None) -> None:
        """`kept` is the number of bytes of the event, None for an error that becomes no event."""
        self._error_bytes += total
        if total > (kept or 0) or kept is None:
            self._cut_error_bytes += total
            self._cut_error_kept_bytes += kept or 0
        if kept is None:
            return
        self._error_event_bytes += kept
        self._error_events += 1
        self.flush()
        self._log.append("error", {"index": self.index, **_clean_texts({"name": name, "value": value, "traceback": traceback})})

    def dropped(self, size: int, reason: str) -> None:
        """A display that becomes no event."""
        self._dropped_bytes += size
        self._dropped_displays[reason] = self._dropped_displays.get(reason, 0) + size

    def truncated(self) -> list[dict[str, object]]:
        entries: list[dict[str, object]] = [
            {"what": name, "total_bytes": stream.total_bytes, "kept_bytes": stream.kept_bytes, "reason": "max_output_bytes"}
            for name, stream in self._streams.items()
            if stream.kept_bytes < stream.total_bytes
        ]
        for reason, size in self._dropped_displays.items():
            total = self._display_bytes + size
            entries.append({"what": "display", "total_bytes": total, "kept_bytes": self._display_bytes, "reason": reason})
        if self._has_changed_numbers:
            size = self._display_bytes
            entries.append({"what": "display", "total_bytes": size, "kept_bytes": size, "reason": "numbers_changed"})
        if self._cut_error_kept_bytes < self._cut_error_bytes:
            kept = self._cut_error_kept_bytes
            entries.append({"what": "error", "total_bytes": self._cut_error_bytes, "kept_bytes": kept, "reason": "max_error_bytes"})
        return entries

    def _append(self, kind: str, fields: dict[str, object]) -> None:
        try:
            cleaned, has_changed = json_guard.clean({"index": self.index, **fields})
        except json_guard.NotAcceptable as refusal:
            self.dropped(0, str(refusal))
            return
        fields = cleaned  # type: ignore[assignment]
        if "data" in fields:
            data = self._without_dropped(fields["data"])  # type: ignore[arg-type]
            fields["data"], is_cut = normalize_bundle(data)
            if is_cut:
                self.dropped(0, "malformed")
            if not fields["data"]:
                return
        size = _bundle_bytes(fields.get("data", {})) + len(json.dumps(fields.get("metadata", {})))
        if size > MAX_BUNDLE_BYTES:
            self.dropped(size, "bundle_too_large")
        elif self._display_events >= self._max_displays:
            self.dropped(size, "too_many_displays")
        elif self._display_bytes + size > MAX_DISPLAY_BYTES:
            self.dropped(size, "max_display_bytes")
        elif self.is_over_total:
            self.dropped(size, "max_total_bytes")
        else:
            self._display_bytes += size
            self._display_events += 1
            self._has_changed_numbers = self._has_changed_numbers or has_changed
            self.flush()
            self._log.append(kind, fields)

    def _without_dropped(self, data: dict[str, object]) -> dict[str, object]:
        """The bundle without the entries that the kernel replaced by their size because they are too large."""
        kept: dict[str, object] = {}
        for mime, value in data.items():
            if isinstance(value, dict) and "cellblock/dropped" in value:
                size = value["cellblock/dropped"]
                self.dropped(self._bounded_claim(size) if type(size) is int else 0, "bundle_too_large")
            else:
                kept[mime] = value
        return kept

    def _emit_text(self, name: str, text: str) -> None:
        self._sent_at = asyncio.get_running_loop().time()
        self._log.append("stream", {"index": self.index, "name": name, "text": text})

    def _on_timer(self) -> None:
        self._timer = None
        self._stream_changes_left = min(MAX_STREAM_CHANGES, self._stream_changes_left + STREAM_CHANGES_PER_DELAY)
        self.flush()

    def _coalesce_delay(self) -> float:
        for count, seconds in COALESCE_SECONDS:
            if self._log.next_seq < count:
                return seconds
        return 5.0


def _utf8_bytes(texts: list[str]) -> int:
    return sum(len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text in texts)


def _bundle_bytes(bundle: object) -> int:
    """Bytes of the values: of a text its UTF-8, of any other value its JSON."""
    values = bundle.values() if isinstance(bundle, dict) else ()
    return sum(_text_bytes(value) if isinstance(value, str) else len(json.dumps(value)) for value in values)


def _text_bytes(text: str) -> int:
    """UTF-8 bytes; where JSON escapes more than double them (control characters), the escaped size, which is what the event costs."""
    size = _utf8_bytes([text])
    # An escape is at most five bytes longer than its character. Counting those is much faster than writing them for a picture's base64.
    if text.isascii() and 5 * len(text.encode().translate(None, _UNESCAPED)) <= size:
        return size
    escaped = len(encode_basestring(text))
    return escaped if escaped > 2 * size + 2 else size


def _clean_texts(fields: dict[str, object]) -> dict[str, object]:
    return {
        key: [json_guard.clean_text(line) for line in value] if isinstance(value, list) else json_guard.clean_text(str(value))
        for key, value in fields.items()
    }
