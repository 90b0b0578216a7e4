"""The table of library adapters."""

import importlib
import inspect
import unittest

from cellblock_supervisor.worker.libraries import adapters


class AdaptersTest(unittest.TestCase):
    def test_adapters_that_are_loaded_with_their_library_exist(self) -> None:
        late = [found for entry in adapters.ADAPTERS if "function" in (found := inspect.getclosurevars(entry.install).nonlocals)]
        self.assertGreater(len(late), 5)
        for entry in late:
            module = importlib.import_module(f"cellblock_supervisor.worker.libraries.{entry['name']}")
            self.assertEqual(list(inspect.signature(getattr(module, entry["function"])).parameters.values())[0].name, "module")


if __name__ == "__main__":
    unittest.main()
