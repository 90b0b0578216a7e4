"""Where the output of a cell goes. What an earlier cell replaced and did not put back would swallow it, so it is put back, and a line says so."""

import contextlib
import sys
from collections.abc import Iterator

from ..channel.output_pipes import OutputPipes
from ..channel.streams import ChannelText

# A wrapper of a wrapper of a stream still leads to it.
_MAX_DEPTH = 4
_MAX_PARTS = 50


class OutputStreams:
    def __init__(self, streams: tuple[ChannelText, ChannelText], pipes: OutputPipes) -> None:
        self._streams = {"stdout": streams[0], "stderr": streams[1]}
        self._pipes = pipes

    def restore(self) -> list[str]:
        """Before a cell. Returns the lines that tell what was put back."""
        notices = [f"{name} was redirected by an earlier cell. It is shown again." for name in self._pipes.renew()]
        for name, stream in self._streams.items():
            replacement = getattr(sys, name, None)
            if not self._is_shown(replacement):
                setattr(sys, name, stream.text)
                notices.append(
                    f"sys.{name} was replaced by an earlier cell ({type(replacement).__name__}), so its output was not shown. It is sys.__{name}__ again."
                )
            if getattr(sys, f"__{name}__", None) is not stream.text:
                setattr(sys, f"__{name}__", stream.text)
        return notices

    def _is_shown(self, stream: object) -> bool:
        ends = {id(end) for one in self._streams.values() for end in (one.text, one.buffer, one.buffer.raw)}
        return _leads_to(ends, stream, _MAX_DEPTH) or _descriptor(stream) in (1, 2)


def _leads_to(ends: set[int], stream: object, depth: int) -> bool:
    """Whether what is written there reaches one of the ends: itself, or through an object that it holds, as wrappers and copying streams do."""
    if id(stream) in ends:
        return True
    return depth > 0 and any(_leads_to(ends, part, depth - 1) for part in _parts(stream))


def _parts(stream: object) -> Iterator[object]:
    for name in ("buffer", "raw"):
        # A detached stream raises ValueError, and code may raise anything.
        with contextlib.suppress(Exception):
            yield getattr(stream, name)
    with contextlib.suppress(Exception):
        for value in list(vars(stream).values())[:_MAX_PARTS]:
            yield from value[:_MAX_PARTS] if isinstance(value, list | tuple) else (value,)


def _descriptor(stream: object) -> int | None:
    try:
        return stream.fileno()  # type: ignore[attr-defined]
    except Exception:
        return None
