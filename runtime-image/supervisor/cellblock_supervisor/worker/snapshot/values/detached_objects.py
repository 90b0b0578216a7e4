"""How values are saved that hold no data themselves: locks that are free, weak references, cached functions, objects with `__getattr__`.

Pickles refer to the public functions of this module; they keep their names and arguments. Values that would be
wrong in another process are refused.
"""

import copyreg
import functools
import pickle
import threading
import weakref
from collections.abc import Callable
from typing import Any

from .reduction import Reduced


def reduced_lock(lock: Any) -> Reduced:
    if lock.locked():
        raise pickle.PicklingError("It is a lock that is held or waited for. Release it to keep it")
    return threading.Lock, ()


def reduced_rlock(lock: Any) -> Reduced:
    if repr(lock).startswith("<locked"):
        raise pickle.PicklingError("It is a lock that is held. Release it to keep it")
    return threading.RLock, ()


def reduced_reference(reference: Any) -> Reduced | None:
    if reference.__callback__ is not None:
        return None
    target = reference()
    return (dead_reference, ()) if target is None else (weakref.ref, (target,))


def dead_reference() -> Any:
    return weakref.ref(type("Removed", (), {})())


def reduced_program(program: Any) -> None:
    if program.poll() is None:
        raise pickle.PicklingError("A running program cannot be saved. Start it again")


def reduced_cached_function(function: Any) -> Reduced | None:
    """Of the notebook; that of a module is found by its name."""
    return (cached_function, (function.__wrapped__, function.cache_parameters())) if function.__module__ == "__main__" else None


def cached_function(function: Callable[..., object], parameters: dict[str, Any]) -> Callable[..., object]:
    return functools.lru_cache(**parameters)(function)


def is_pickled_by_default(kind: type) -> bool:
    is_default = kind.__reduce_ex__ is object.__reduce_ex__ and kind.__reduce__ is object.__reduce__
    return is_default and kind not in copyreg.dispatch_table and not hasattr(kind, "__setstate__") and not issubclass(kind, type)


def reduced_with_getattr(value: Any) -> Reduced:
    """Pickle would ask the empty object for `__setstate__`, and its `__getattr__` needs attributes that it does not have yet."""
    made, arguments, state, *items = value.__reduce_ex__(2)
    return (made, arguments) if state is None else (made, arguments, state, *items, set_state)  # type: ignore[return-value]


def set_state(value: Any, state: Any) -> None:
    attributes, slots = state if isinstance(state, tuple) else (state, {})
    if attributes:
        object.__getattribute__(value, "__dict__").update(attributes)
    for name, content in slots.items():
        object.__setattr__(value, name, content)
