"""Pickles the variables of a notebook: definitions of the notebook by value, imports by reference.

Functions of the notebook keep the live namespace as their globals, so that after a restore they see its variables change. Large buffers
(arrays, data frames) travel out of band and are not copied.
"""

import pickle
import types
from collections.abc import Callable

import cloudpickle

from ..live_namespace import live_namespace
from .values.reducers import reduced


class _Namespace:
    """Stands in a pickle for the namespace itself."""

    def __reduce__(self) -> tuple[Callable[[], dict[str, object]], tuple[()]]:
        return live_namespace, ()


class NamespacePickler(cloudpickle.Pickler):
    """One pickler dumps all variables one after the other with one memo, so that shared objects stay shared."""

    def __init__(self, file: object, on_buffer: Callable[[pickle.PickleBuffer], object]) -> None:
        super().__init__(file, protocol=5, buffer_callback=on_buffer)

    def reducer_override(self, obj: object) -> object:
        reduction = reduced(obj)
        return super().reducer_override(obj) if reduction is None else reduction

    def _dynamic_function_reduce(self, function: types.FunctionType) -> tuple[object, ...]:
        reduced = list(super()._dynamic_function_reduce(function))
        if function.__globals__ is live_namespace():
            code, _globals, *rest = reduced[1]
            reduced[1] = (code, _Namespace(), *rest)
            state, slots = reduced[2]
            # Its global variables are restored as variables; a copy here would overwrite newer values.
            reduced[2] = (state, {**slots, "__globals__": {}})
        return tuple(reduced)


class ByteCounter:
    """A file that only counts bytes: measures a pickle without memory."""

    def __init__(self) -> None:
        self.size = 0

    def write(self, data: bytes) -> int:
        self.size += len(data)
        return len(data)

    def buffer(self, buffer: pickle.PickleBuffer) -> bool:
        self.size += buffer.raw().nbytes
        return False
