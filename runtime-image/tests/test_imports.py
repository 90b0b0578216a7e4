"""What the processes of an idle sandbox load. Every module costs each of them memory."""

import subprocess
import sys
import unittest


def _loaded(code: str) -> set[str]:
    """The modules that a new interpreter has after `code`."""
    printed = subprocess.run([sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"], capture_output=True, text=True, check=True)
    return set(printed.stdout.split())


class Imports(unittest.TestCase):
    def test_idle_supervisor_does_without_openssl(self) -> None:
        loaded = _loaded("sys.modules['ssl'] = None\nimport cellblock_supervisor.serving, cellblock_supervisor.isolation_checks")
        for module in ("_ssl", "_hashlib", "urllib.parse"):
            self.assertNotIn(module, loaded)

    def test_idle_kernel_does_without_what_only_saving_and_explaining_use(self) -> None:
        loaded = _loaded("from cellblock_supervisor.worker.kernel import serve")
        for module in ("sqlite3", "tarfile", "difflib"):
            self.assertNotIn(module, loaded)
        for module in ("snapshot.values.sqlite_connections", "libraries.plotly_displays", "charts.matplotlib_matrices"):
            self.assertNotIn(f"cellblock_supervisor.worker.{module}", loaded)

    def test_a_zygote_forgets_the_folders_of_packages_and_still_imports_from_them(self) -> None:
        forgotten = "import json, email\nfrom cellblock_supervisor.worker.zygote import forget_folders\nforget_folders()"
        kept = subprocess.run(
            [sys.executable, "-c", f"import sys\n{forgotten}\nprint(*sys.path_importer_cache.keys() - set(sys.path))\nimport json.tool, email.mime.text"],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(kept.stdout, "\n")


if __name__ == "__main__":
    unittest.main()
