"""Loads the output of NamespacePickler: one pickle after the other with one memo, so that shared objects stay shared.

Pickles number their objects implicitly, by counting. After a pickle that fails in the middle all later ones would count wrongly and get other
objects. So a failed pickle is counted to its end. Only pickles that refer to an object which it created first fail with it: such an object
may be incomplete. Its texts, bytes and members of modules are found in the failed pickle, so that most others do not depend on it.
"""

import importlib
import operator
import pickle
import pickletools
import signal
import struct
import sys
import types
from collections.abc import Iterator

# A pickle that is one reference, and the part of one that numbers an object.
_GET = struct.Struct("<3sI1s")
_PUT = struct.Struct("<1si3s")
# Of the time budget: they must not interrupt the numbering of objects.
_TIMER_SIGNALS = (signal.SIGALRM, signal.SIGPROF)
_REFERENCES = frozenset(("BINGET", "LONG_BINGET"))
_TEXTS = frozenset(("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"))
_BYTES = frozenset(("SHORT_BINBYTES", "BINBYTES", "BINBYTES8"))
_NO_CONSTANT = object()


class _Unpickler(pickle.Unpickler):
    """Takes already numbered objects from a list: a memo that is assigned from outside would be empty afterwards."""

    made: list[object] = []

    def persistent_load(self, number: int) -> object:
        return self.made[number]


class NamespaceUnpickler:
    def __init__(self) -> None:
        self._body = memoryview(b"")
        self._buffers: list[bytearray] = []
        self._unpickler = self._start([])
        # The count of numbered objects, and the numbers of those that must not be used, with the variable whose pickle failed.
        self._count = 0
        self._missing: dict[int, str] = {}
        # False from the start of a pickle until its objects are counted: an interruption in between loses all that follow.
        self._is_counted = True

    def load(self, name: str, body: bytes | bytearray, buffers: list[bytearray]) -> object:
        """The value of the variable `name`. Raises what unpickling raises; later pickles can still be loaded."""
        if not self._is_counted:
            raise pickle.UnpicklingError("an earlier variable was interrupted while it was restored")
        shared = next((number for number in _references(body) if number in self._missing), None) if self._missing else None
        if shared is not None:
            cause = self._missing[shared]
            self._skip(cause, body)
            raise pickle.UnpicklingError(f"It shares an object with {cause}, which could not be restored")
        self._buffers = buffers
        self._is_counted = False
        try:
            value = self._read(body)
        except BaseException:
            signal.pthread_sigmask(signal.SIG_BLOCK, _TIMER_SIGNALS)
            try:
                self._skip(name, body)
                self._is_counted = True
            finally:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, _TIMER_SIGNALS)
            raise
        self._count = self._find_count()
        self._is_counted = True
        return value

    def _read(self, body: bytes | bytearray | memoryview) -> object:
        self._body = memoryview(body)
        return self._unpickler.load()

    def _start(self, made: list[object]) -> _Unpickler:
        unpickler = _Unpickler(self, buffers=self._next_buffers())  # type: ignore[arg-type]
        unpickler.made = made
        self._body = memoryview(b"".join((b"\x80\x05", *(_PUT.pack(b"J", number, b"Q\x940") for number in range(len(made))), b"N.")))
        unpickler.load()
        unpickler.made = []
        return unpickler

    def _skip(self, cause: str, body: bytes | bytearray) -> None:
        """Numbers every object of a failed pickle and excludes incomplete ones. A new unpickler replaces the one that holds the rest of the pickle."""
        end = self._count + sum(1 for name, _ in _operations(body) if name == "MEMOIZE")
        memo: dict[int, object] = self._unpickler.memo.copy()  # type: ignore[attr-defined]
        constants = _constants(body, self._count, memo)
        unusable = (number for number in range(self._count, end) if number not in memo or not _is_complete(memo[number]))
        self._missing.update((number, cause) for number in unusable if number not in constants)
        memo.update(constants)
        self._unpickler = self._start([memo.get(number) for number in range(end)])
        self._count = end

    def _find_count(self) -> int:
        """The first unused number. Single queries are fast; copying the memo, the only other way, is not."""
        low, step = self._count, 1
        while self._has(low + step - 1):
            low, step = low + step, step * 2
        high = low + step - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self._has(middle) else (low, middle)
        return low

    def _has(self, number: int) -> bool:
        try:
            self._read(_GET.pack(b"\x80\x05j", number, b"."))
        except pickle.UnpicklingError:
            return False
        return True

    def _next_buffers(self) -> Iterator[bytearray]:
        while True:
            yield self._buffers.pop(0)

    def read(self, size: int) -> bytes:
        piece, self._body = bytes(self._body[:size]), self._body[size:]
        return piece

    def readinto(self, target: memoryview) -> int:
        size = min(len(target), len(self._body))
        target[:size] = self._body[:size]
        self._body = self._body[size:]
        return size

    def readline(self) -> bytes:
        end = bytes(self._body).find(b"\n") + 1
        return self.read(end or len(self._body))


def _is_complete(value: object) -> bool:
    """True for objects that are complete when they are created: plain values, tuples of them, members of modules, simple dtypes."""
    if type(value) is tuple:
        return all(map(_is_complete, value))
    if value is None or isinstance(value, (str, bytes, int, float, complex)):
        return True
    module = getattr(value, "__module__", None)
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        return module != "__main__" and getattr(sys.modules.get(str(module)), value.__name__, None) is value
    dtype = getattr(sys.modules.get("numpy"), "dtype", None)
    return dtype is not None and isinstance(value, dtype) and value.fields is None


def _constants(body: bytes | bytearray, first: int, memo: dict[int, object]) -> dict[int, object]:
    """The texts, bytes and members of modules that a pickle numbers, from the number `first` on."""
    found: dict[int, object] = {}
    number, last, texts = first, _NO_CONSTANT, ("", "")
    for name, argument in _operations(body):
        if name == "MEMOIZE":
            if last is not _NO_CONSTANT:
                found[number] = last
            number += 1
            continue
        if name in _TEXTS or name in _BYTES:
            last = argument
        elif name in _REFERENCES:
            last = found.get(argument, memo.get(argument, _NO_CONSTANT))  # type: ignore[call-overload]
        elif name == "STACK_GLOBAL":
            last = _member(*texts)
        else:
            last = _NO_CONSTANT
        if isinstance(last, str):
            texts = (texts[1], last)
    return found


def _member(module: str, name: str) -> object:
    try:
        return _NO_CONSTANT if module == "__main__" else operator.attrgetter(name)(importlib.import_module(module))
    except Exception:
        return _NO_CONSTANT


def count_memoized(parts: list[bytes]) -> int:
    """The number of objects that a pickle numbers."""
    return sum(1 for name, _ in _operations(b"".join(parts)) if name == "MEMOIZE")


def _references(body: bytes | bytearray) -> Iterator[int]:
    return (int(number) for name, number in _operations(body) if name in _REFERENCES)  # type: ignore[call-overload]


def _operations(body: bytes | bytearray) -> Iterator[tuple[str, object]]:
    return ((operation.name, argument) for operation, argument, _ in pickletools.genops(bytes(body)))
