"""`asyncio.run` and `run_until_complete` in a cell, as scripts use them, although the kernel's own event loop is running.

The kernel's loop waits while a cell runs, so another loop may run in its place in the same thread. Code that calls `nest_asyncio.apply()` changes
the kernel's loop itself; its `asyncio.run` then accepts a loop factory, which servers pass.
"""

import asyncio
import contextlib
import functools
import types
from asyncio import base_events, events, runners
from collections.abc import Callable, Iterator
from typing import Any

_original_run, _original_runner_run = asyncio.run, runners.Runner.run
_original_run_until_complete = base_events.BaseEventLoop.run_until_complete


@functools.wraps(_original_run)
def run(*arguments: Any, **options: Any) -> Any:
    __tracebackhide__ = True
    with _without_running_loop():
        return _original_run(*arguments, **options)


@functools.wraps(_original_runner_run)
def _runner_run(*arguments: Any, **options: Any) -> Any:
    __tracebackhide__ = True
    with _without_running_loop():
        return _original_runner_run(*arguments, **options)


@functools.wraps(_original_run_until_complete)
def _run_until_complete(loop: Any, future: Any) -> Any:
    __tracebackhide__ = True
    running = events._get_running_loop()
    # A future of the kernel's own loop cannot complete while the cell waits for it; a coroutine may run on any loop.
    if loop is running and asyncio.iscoroutine(future):
        return run(future)
    if loop is running:
        return _original_run_until_complete(loop, future)
    with _without_running_loop():
        return _original_run_until_complete(loop, future)


def install(_module: types.ModuleType, _shell: object) -> None:
    asyncio.run = runners.run = run
    runners.Runner.run = _runner_run  # type: ignore[method-assign]
    base_events.BaseEventLoop.run_until_complete = _run_until_complete  # type: ignore[method-assign]


def accept_loop_factory(module: types.ModuleType, _shell: object) -> None:
    apply = module.apply  # type: ignore[attr-defined]

    @functools.wraps(apply)
    def apply_and_accept(*arguments: Any, **options: Any) -> None:
        apply(*arguments, **options)
        nested = asyncio.run
        if hasattr(nested, "__wrapped__"):
            return

        @functools.wraps(nested)
        def run_nested(main: Any, *, debug: bool | None = None, loop_factory: Any = None) -> Any:
            if loop_factory is not None:
                return run(main, debug=debug, loop_factory=loop_factory)
            return nested(main, debug=bool(debug))

        asyncio.run = run_nested

    module.apply = apply_and_accept  # type: ignore[attr-defined]


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
