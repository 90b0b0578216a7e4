"""A variable that cannot be saved or restored does not affect the others."""

import datetime
import decimal
import os
import signal
import subprocess
import threading
import time
import types
import unittest
import uuid
import weakref
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import numpy

from cellblock_supervisor.worker.snapshot.process import unsaved_state

from .carry import carry


def _boom(_value: object) -> None:
    raise ValueError("not here")


class NotHere:
    """Can be pickled but not restored; has objects before and after the failing one, some of them shared."""

    def __init__(self, before: object, after: object) -> None:
        self._before, self._after = before, after

    def __reduce__(self) -> tuple[object, ...]:
        return _boom, ([self._before, ["own"]],), {"after": self._after, "more": [[1], [2], [3]]}


class Restless:
    """Can be pickled once."""

    def __init__(self, held: object) -> None:
        self._held, self._count = held, 0

    def __reduce__(self) -> tuple[object, ...]:
        self._count += 1
        if self._count > 1:
            raise RuntimeError("changed size during iteration")
        return list, ([self._held],)


def _sleep_long(*_arguments: object) -> None:
    for _ in range(1_000):
        time.sleep(0.01)


class SlowToRestore:
    def __init__(self, shared: object) -> None:
        self._shared = shared

    def __reduce__(self) -> tuple[object, ...]:
        return _sleep_long, (self._shared,)


class RaisingClass:
    @property
    def __class__(self) -> type:
        raise RuntimeError("no class")


class Raises:
    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __reduce__(self) -> tuple[object, ...]:
        raise self._error


class NamelessMeta(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise RuntimeError("no name")


class MuteError(Exception, metaclass=NamelessMeta):
    def __str__(self) -> str:
        raise SystemExit


class EndlessError(Exception):
    def __str__(self) -> str:
        _sleep_long()
        return "late"


class Slow:
    """Its reducer takes ten seconds."""

    def __reduce__(self) -> tuple[object, ...]:
        _sleep_long()
        return list, ()


class Wrapper:
    """`__getattr__` fails on an object that has no attributes yet."""

    def __init__(self, values: dict[str, object]) -> None:
        self._values = values

    def __getattr__(self, name: str) -> object:
        return self._values[name]


class Node:
    def __init__(self, parent: "Node | None") -> None:
        self.parent = None if parent is None else weakref.ref(parent)


def linked(*names: str) -> list[object]:
    """Values that differ when an object has a wrong number."""
    values: list[object] = [[name] for name in names]
    return [*values, values[0], values[-1], {name: value for name, value in zip(names, values, strict=True)}]


class Snapshots(unittest.TestCase):
    def test_keeps_shared_objects_shared(self) -> None:
        shared = ["x"]
        back, lost = carry({"a": [shared], "big": linked(*map(str, range(20_000))), "b": shared, "c": {"b": shared}})
        self.assertEqual(lost, {})
        self.assertIs(back["a"][0], back["b"])  # type: ignore[index]
        self.assertIs(back["c"]["b"], back["b"])  # type: ignore[index]
        self.assertEqual(back["big"], linked(*map(str, range(20_000))))

    def test_loses_with_a_failed_variable_only_those_that_share_its_objects(self) -> None:
        first, before, after = ["first"], ["before"], ["after"]
        for filler in (3, 20_000):
            rest = linked(*map(str, range(filler)))
            variables = {
                "first": first,
                "bad": NotHere(before, after),
                "rest": rest,
                "has_first": [first, rest],
                "half": (half := [["p"], NotHere(0, 0), ["q"]]),
                "has_half": [half, rest],
                "has_before": [before, rest],
                "has_after": [after, ["p"], ["q"]],
                "worse": NotHere(first, rest),
                "last": [first, linked("u", "v", "w")],
            }
            back, lost = carry(variables)
            self.assertEqual(sorted(lost), ["bad", "half", "has_after", "has_before", "has_half", "worse"])
            self.assertEqual(lost["bad"], "ValueError: not here")
            self.assertIn("shares an object", lost["has_after"])
            self.assertEqual(back, {name: value for name, value in variables.items() if name not in lost})
            self.assertIs(back["has_first"][0], back["first"])  # type: ignore[index]
            self.assertIs(back["has_first"][1], back["rest"])  # type: ignore[index]

    def test_restores_other_variables_with_objects_of_the_same_types(self) -> None:
        def table(values: list[int]) -> object:
            return {"time": datetime.timedelta(values[0]), "array": numpy.array(values), "name": "a name"}

        back, lost = carry({"bad": NotHere(table([1, 2]), table([3])), "good": table([4, 5]), "again": table([6])})
        self.assertEqual(list(lost), ["bad"])
        self.assertEqual((str(back["good"]), str(back["again"])), (str(table([4, 5])), str(table([6]))))

    def test_names_the_variable_that_could_not_be_restored(self) -> None:
        shared = ["shared"]
        _, lost = carry({"bad": NotHere(0, shared), "other": [shared]})
        self.assertEqual(lost["other"], "UnpicklingError: It shares an object with bad, which could not be restored")

    def test_restores_definitions_of_the_notebook_whatever_else_fails(self) -> None:
        space: dict[str, object] = {"__name__": "__main__"}
        exec("class Point:\n    pass\ndef make():\n    return Point()", space)
        point = space["make"]()  # type: ignore[operator]
        back, lost = carry({"bad": NotHere([point], [point]), "Point": space["Point"], "make": space["make"], "worse": NotHere(0, 0)})
        self.assertEqual(sorted(lost), ["bad", "worse"])
        self.assertEqual(type(back["make"]()).__name__, "Point")  # type: ignore[operator]

    def test_finds_members_of_modules_in_a_failed_variable(self) -> None:
        back, lost = carry({"bad": NotHere(0, [decimal.Decimal, uuid.UUID, b"bytes" * 20]), "good": [decimal.Decimal(2), uuid.UUID(int=3)]})
        self.assertEqual((list(lost), back), (["bad"], {"good": [decimal.Decimal(2), uuid.UUID(int=3)]}))

    def test_makes_free_locks_again_and_refuses_held_ones(self) -> None:
        lock, held, held_again = threading.Lock(), threading.Lock(), threading.RLock()
        held.acquire()
        held_again.acquire()
        back, lost = carry({"locks": [lock, threading.RLock(), lock, threading.Event()], "held": held, "held_again": held_again})
        self.assertEqual(sorted(lost), ["held", "held_again"])
        self.assertRegex(lost["held"], "Release it")
        locks = back["locks"]
        self.assertIs(locks[0], locks[2])  # type: ignore[index]
        self.assertTrue(locks[1].acquire(blocking=False))  # type: ignore[index]

    def test_keeps_weak_references_to_objects_that_are_kept(self) -> None:
        parent = Node(None)
        back, lost = carry({"parent": parent, "child": Node(parent), "dead": weakref.ref(Node(None))})
        self.assertEqual((lost, back["dead"]()), ({}, None))  # type: ignore[operator]
        self.assertIs(back["child"].parent(), back["parent"])  # type: ignore[attr-defined]

    def test_restores_objects_whose_attributes_are_computed(self) -> None:
        back, lost = carry({"wrapper": Wrapper({"file": 3})})
        self.assertEqual((lost, back["wrapper"].file), ({}, 3))  # type: ignore[attr-defined]

    def test_names_handlers_of_signals_with_and_without_a_name(self) -> None:
        def handler(*_: object) -> None: ...

        handler.__module__ = "__main__"
        unnamed = signal.SIGRTMIN + 1
        for number in (signal.SIGUSR1, unnamed):
            self.addCleanup(signal.signal, number, signal.signal(number, handler))
        named = {one["what"] for one in unsaved_state.named_signal_handlers()}
        self.assertEqual(named, {"signal handler SIGUSR1", f"signal handler {unnamed}"})

    def test_refuses_running_programs_and_pools(self) -> None:
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as program, ThreadPoolExecutor(1) as pool:
            _, lost = carry({"program": program, "pool": pool})
        self.assertRegex(lost["program"], "running program")
        self.assertRegex(lost["pool"], "Make it again")

    def test_names_a_variable_that_changes_while_it_is_saved_and_keeps_the_others(self) -> None:
        shared = ["shared"]
        for filler in (3, 20_000):
            rest = linked(*map(str, range(filler)))
            back, lost = carry({"rest": rest, "restless": Restless([shared, ["own"]]), "a": [shared, rest], "b": shared})
            self.assertEqual(lost, {"restless": "RuntimeError: changed size during iteration"})
            self.assertEqual((back["rest"], back["a"], back["b"]), (rest, [shared, rest], shared))
            self.assertIs(back["a"][0], back["b"])  # type: ignore[index]
            self.assertIs(back["a"][1], back["rest"])  # type: ignore[index]

    def test_keeps_the_others_beside_values_of_every_odd_kind(self) -> None:
        unnamed, numbered = types.ModuleType("m"), types.ModuleType("m")
        del unnamed.__name__
        numbered.__name__ = 5  # type: ignore[assignment]
        variables = {
            "first": [1],
            1: "a number as name",
            b"bytes": 2,
            "unnamed": unnamed,
            "numbered": numbered,
            "lying": mock.Mock(spec=os),
            "raising": RaisingClass(),
            "os": os,
            "namespace": "a name that the report uses too",
            "last": [2],
        }
        back, lost = carry(variables)  # type: ignore[arg-type]
        kept = {name: variables[name] for name in ("first", "os", "namespace", "last")}
        self.assertEqual({name: value for name, value in back.items() if name != "raising"}, kept)
        self.assertLessEqual({"namespace", "unnamed", "numbered", "lying"}, set(lost))
        self.assertRegex(lost["namespace"], "^2 of its keys")

    def test_names_an_error_that_cannot_be_shown(self) -> None:
        back, lost = carry({"exits": Raises(SystemExit(3)), "mute": Raises(MuteError()), "endless": Raises(EndlessError()), "last": [2]}, 2_000)
        self.assertEqual((back, lost), ({"last": [2]}, {"exits": "SystemExit: 3", "mute": "MuteError", "endless": "EndlessError"}))

    def test_loses_a_variable_that_takes_too_long_to_save(self) -> None:
        before = signal.getsignal(signal.SIGALRM)
        kept, lost = carry({"first": [1], "slow": Slow(), "last": [2]}, 2_000)
        self.assertEqual(kept, {"first": [1], "last": [2]})
        self.assertRegex(lost["slow"], "TimeBudgetExceeded: the time limit")
        self.assertIs(signal.getsignal(signal.SIGALRM), before)

    def test_loses_a_variable_that_takes_too_long_to_restore_and_keeps_shared_objects(self) -> None:
        shared = ["shared"]
        kept, lost = carry({"a": shared, "slow": SlowToRestore(shared), "b": [shared, ["own"]]}, 2_000)
        self.assertEqual((kept["b"], kept["b"][0] is kept["a"]), ([["shared"], ["own"]], True))
        self.assertRegex(lost["slow"], "TimeBudgetExceeded")


if __name__ == "__main__":
    unittest.main()
