"""`asyncio.run` and `run_until_complete` in a cell, as scripts use them, although the kernel's own event loop is running.

The kernel's loop waits while a cell runs, so another loop may run in its place in the same thread.
"""

import asyncio
import contextlib
import functools
from asyncio import base_events, events, runners
from collections.abc import Callable, Iterator
from typing import Any


def install() -> None:
    original_run, original_runner_run = asyncio.run, runners.Runner.run
    original_run_until_complete = base_events.BaseEventLoop.run_until_complete

    @functools.wraps(original_run)
    def run(*arguments: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        with _without_running_loop():
            return original_run(*arguments, **options)

    @functools.wraps(original_runner_run)
    def runner_run(*arguments: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        with _without_running_loop():
            return original_runner_run(*arguments, **options)

    @functools.wraps(original_run_until_complete)
    def run_until_complete(loop: Any, future: Any) -> Any:
        __tracebackhide__ = True
        running = events._get_running_loop()
        # A future of the kernel's own loop cannot complete while the cell waits for it; a coroutine may run on any loop.
        if loop is running and asyncio.iscoroutine(future):
            return run(future)
        if loop is running:
            return original_run_until_complete(loop, future)
        with _without_running_loop():
            return original_run_until_complete(loop, future)

    asyncio.run = runners.run = run
    runners.Runner.run = runner_run  # type: ignore[method-assign]
    base_events.BaseEventLoop.run_until_complete = run_until_complete  # type: ignore[method-assign]


@contextlib.contextmanager
def _without_running_loop() -> Iterator[None]:
    running: Any = events._get_running_loop()
    restore: Callable[[], None] = (lambda: asyncio.set_event_loop(running)) if running is not None else (lambda: None)
    events._set_running_loop(None)
    try:
        yield
    finally:
        events._set_running_loop(running)
        # `asyncio.run` leaves the thread without a current loop.
        restore()
