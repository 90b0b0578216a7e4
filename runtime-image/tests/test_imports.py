"""What the processes of an idle sandbox load. Every module costs each of them memory."""

import subprocess
import sys
import unittest


def _loaded(code: str) -> set[str]:
    """The modules that a new interpreter has after `code`."""
    printed = subprocess.run([sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"], capture_output=True, text=True, check=True)
    return set(printed.stdout.split())


class Imports(unittest.TestCase):
    def test_files_helper_is_forked_before_the_supervisor_is_imported(self) -> None:
        loaded = _loaded("import cellblock_supervisor.__main__")
        self.assertIn("cellblock_supervisor.files.helper", loaded)
        for module in ("asyncio", "inspect", "shutil", "hashlib", "cellblock_supervisor.serving"):
            self.assertNotIn(module, loaded)

    def test_idle_supervisor_does_without_openssl(self) -> None:
        loaded = _loaded("sys.modules['ssl'] = None\nimport cellblock_supervisor.serving, cellblock_supervisor.isolation_checks")
        for module in ("_ssl", "_hashlib"):
            self.assertNotIn(module, loaded)


if __name__ == "__main__":
    unittest.main()
