"""Levels and handlers of loggers that code has changed. Handlers that write to a stream or a file are restored, others are named."""

import logging
import sys
from collections.abc import Iterator
from typing import Any

Lost = list[dict[str, str]]
_FLAGS = ("level", "propagate", "disabled")


def _loggers() -> Iterator[tuple[str, logging.Logger]]:
    """The root logger has the name ""."""
    yield "", logging.getLogger()
    for name, logger in list(logging.Logger.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger):
            yield name, logger


def _flags(logger: logging.Logger) -> dict[str, Any]:
    return {name: getattr(logger, name) for name in _FLAGS}


class LoggingState:
    """Made at the start of a kernel, before user code runs."""

    def __init__(self) -> None:
        self._start = {name: (_flags(logger), list(logger.handlers)) for name, logger in _loggers()}

    def changed(self, lost: Lost) -> dict[str, dict[str, Any]] | None:
        """Flags and new handlers by the name of the logger; None without changes."""
        changed: dict[str, dict[str, Any]] = {}
        for name, logger in _loggers():
            flags, handlers = self._start.get(name, ({"level": logging.NOTSET, "propagate": True, "disabled": False}, []))
            added = [handler for handler in logger.handlers if handler not in handlers and type(handler) is not logging.NullHandler]
            described = []
            for handler in added:
                try:
                    described.append({"level": handler.level, "formatter": handler.formatter, **_target(handler)})
                except ValueError as error:
                    lost.append({"what": f"logging handler of {name or 'the root logger'}", "reason": str(error)})
            if described or _flags(logger) != flags:
                changed[name] = {**_flags(logger), "handlers": described}
        return changed or None


def restore(changed: dict[str, dict[str, Any]]) -> None:
    for name, wanted in changed.items():
        logger = logging.getLogger(name or None)
        logger.setLevel(wanted["level"])
        logger.propagate, logger.disabled = wanted["propagate"], wanted["disabled"]
        for described in wanted["handlers"]:
            handler = _handler(described)
            handler.setLevel(described["level"])
            handler.setFormatter(described["formatter"])
            logger.addHandler(handler)


def _target(handler: logging.Handler) -> dict[str, Any]:
    """Raises ValueError for a handler that cannot be made again."""
    if type(handler) is logging.FileHandler:
        handler.flush()
        return {"file": handler.baseFilename, "encoding": handler.encoding}
    if type(handler) is logging.StreamHandler and handler.stream in (sys.stdout, sys.stderr):
        return {"stream": "stdout" if handler.stream is sys.stdout else "stderr"}
    raise ValueError(f"A {type(handler).__name__} cannot be saved. Add it again.")


def _handler(described: dict[str, Any]) -> logging.Handler:
    if "file" in described:
        return logging.FileHandler(described["file"], "a", described["encoding"])
    return logging.StreamHandler(getattr(sys, described["stream"]))
