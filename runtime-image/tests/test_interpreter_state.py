"""Settings of the interpreter survive a snapshot; shared memory of arrays and results by number are named."""

import gc
import logging
import sys
import types
import unittest

import numpy

from cellblock_supervisor.worker.snapshot.process import interpreter_state
from cellblock_supervisor.worker.snapshot.process.interpreter_state import InterpreterState

from .carry import carry


def _shell(cells: list[str], results: dict[int, object]) -> types.SimpleNamespace:
    history = types.SimpleNamespace(input_hist_parsed=cells, input_hist_raw=cells, output_hist=results)
    return types.SimpleNamespace(history_manager=history)


class InterpreterStateTest(unittest.TestCase):
    def test_changed_settings_are_restored(self) -> None:
        state, argv = InterpreterState(), list(sys.argv)
        self.assertIsNone(state.changed())
        try:
            sys.argv = ["tool", "--fast"]
            logging.disable(logging.INFO)
            logging.addLevelName(25, "NOTICE")
            gc.disable()
            changed = state.changed()
            assert changed is not None
            self._reset(argv)
            interpreter_state.restore(changed)
            self.assertEqual(sys.argv, ["tool", "--fast"])
            self.assertEqual((logging.root.manager.disable, logging.getLevelName(25), gc.isenabled()), (logging.INFO, "NOTICE", False))
        finally:
            self._reset(argv)

    def _reset(self, argv: list[str]) -> None:
        sys.argv = argv
        logging.disable(logging.NOTSET)
        logging._levelToName.pop(25, None)
        logging._nameToLevel.pop("NOTICE", None)
        gc.enable()

    def test_inputs_keep_their_numbers_beyond_the_limit(self) -> None:
        large = "x" * 600_000
        found = interpreter_state.inputs(_shell(["", large, large, "last"], {}))
        assert found is not None
        self.assertEqual([len(cell) for cell in found["parsed"]], [0, 0, 600_000, 4])
        self.assertIsNone(interpreter_state.inputs(_shell([""], {})))

    def test_results_by_number_are_named_where_code_uses_them(self) -> None:
        self.assertTrue(interpreter_state.uses_results(_shell(["", "1 + 1", "Out[1]"], {1: 2})))
        self.assertTrue(interpreter_state.uses_results(_shell(["", "1 + 1", "x = _ + 1"], {1: 2})))
        self.assertTrue(interpreter_state.uses_results(_shell(["", "1 + 1", "_1"], {1: 2})))
        for cell in ("a_b = my__name", "for _ in range(3): pass", "suffixes = ('_1', '_2')", "f = lambda _: _"):
            self.assertFalse(interpreter_state.uses_results(_shell(["", "1 + 1", cell], {1: 2})))

    def test_arrays_that_shared_memory_are_named(self) -> None:
        whole = numpy.arange(6)
        kept, lost = carry({"part": whole[:2], "whole": whole, "same": whole, "alone": numpy.arange(6).reshape(2, 3)})
        self.assertEqual(list(lost), ["view part"])
        self.assertIn("with whole", lost["view part"])
        self.assertIs(kept["same"], kept["whole"])
