"""Kernels of notebooks inside a sandbox, as nbconvert and nbclient start them."""

import pathlib
import tempfile
import unittest

from jupyter_client.manager import start_new_kernel

_PRINTS_IN_CHILDREN = """
import logging, multiprocessing, sys
logging.basicConfig(stream=sys.stderr, format="%(message)s")
print("from the kernel")
for target, text in ((print, "from a child"), (logging.warning, "from a logger"), (print, "ä" * 300_000)):
    child = multiprocessing.get_context("fork").Process(target=target, args=(text,))
    child.start(); child.join()
"""


def _tcp_sockets() -> list[str]:
    """Of all processes: the container has a separate network namespace."""
    return [line for name in ("tcp", "tcp6") for line in pathlib.Path("/proc/net", name).read_text().splitlines()[1:]]


class Notebooks(unittest.TestCase):
    def setUp(self) -> None:
        self.manager, self.client = start_new_kernel()
        self.addCleanup(self._stop)

    def _stop(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self.manager.cleanup_resources()

    def _printed(self, code: str) -> dict[str, str]:
        """What a cell has printed when the kernel says that it ended."""
        texts = {"stdout": "", "stderr": ""}

        def add(message: dict[str, dict[str, str]]) -> None:
            if "text" in message["content"]:
                texts[message["content"]["name"]] += message["content"]["text"]

        reply = self.client.execute_interactive(code, timeout=20, output_hook=add)
        self.assertEqual(reply["content"]["status"], "ok", reply["content"])
        return texts

    def test_kernel_has_no_ip_socket(self) -> None:
        self.assertEqual(self._printed("print(6 * 7)")["stdout"], "42\n")
        self.assertEqual(_tcp_sockets(), [])

    def test_forked_children_print_once_into_their_cell(self) -> None:
        texts = self._printed(_PRINTS_IN_CHILDREN)
        self.assertEqual(sorted(texts["stdout"].splitlines()), ["from a child", "from the kernel", "ä" * 300_000])
        self.assertEqual(texts["stderr"], "from a logger\n")
        self.assertEqual(self._printed("print('end')"), {"stdout": "end\n", "stderr": ""})

    def test_shell_commands_run_without_a_terminal(self) -> None:
        code = "word = 'x y'\n!echo \"{word}\"; test -t 1 || echo no terminal; echo err >&2; exit 3\nprint('after', _exit_code)\nlines = !echo one; echo two\nprint(lines)"
        self.assertEqual(self._printed(code)["stdout"], "x y\nno terminal\nerr\nafter 3\n['one', 'two']\n")

    def test_kernel_restarts_and_removes_its_sockets(self) -> None:
        self.manager.restart_kernel(now=True)
        self.client.wait_for_ready(timeout=20)
        self.assertEqual(self._printed("print('again')")["stdout"], "again\n")
        self._stop()
        left = [path for path in pathlib.Path(tempfile.gettempdir()).iterdir() if path.is_socket() or path.suffix == ".json"]
        self.assertEqual(left, [])


if __name__ == "__main__":
    unittest.main()
