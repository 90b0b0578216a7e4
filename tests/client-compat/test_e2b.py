"""E2B's Python client against a running Cellblock."""

import os
import unittest

from e2b import CommandExitException, FileType, FilesystemEventType, NotFoundException, PtySize, TimeoutException
from e2b_code_interpreter import Sandbox

CONNECTION = {
    "api_key": os.environ["CELLBLOCK_API_KEY"],
    "api_url": os.environ["CELLBLOCK_URL"] + "/e2b",
    "sandbox_url": os.environ["CELLBLOCK_URL"] + "/e2b",
}


class CodeInterpreter(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.sandbox = Sandbox.create(timeout=600, metadata={"purpose": "python"}, envs={"GREETING": "hello"}, **CONNECTION)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.sandbox.kill()

    def test_code(self) -> None:
        lines: list[str] = []
        run = self.sandbox.run_code("print(1)\nx = 41\nx + 1", on_stdout=lambda message: lines.append(message.line))
        self.assertEqual((run.text, "".join(lines)), ("42", "1\n"))
        self.assertEqual(self.sandbox.run_code("1 / 0").error.name, "ZeroDivisionError")
        self.assertEqual("".join(self.sandbox.run_code("echo $GREETING", language="bash").logs.stdout), "hello\n")
        context = self.sandbox.create_code_context(cwd="/mnt/data")
        self.assertEqual(self.sandbox.run_code("x", context=context).error.name, "NameError")
        self.assertEqual(self.sandbox.run_code("x").text, "41")
        self.assertEqual(self.sandbox.run_code("import os; os.getcwd(), os.path.expanduser('~')").text, "('/home/user', '/home/user')")

    def test_charts_and_data(self) -> None:
        code = "import matplotlib.pyplot as plt\nplt.plot([1, 2], [3, 4])\nplt.xlabel('t (s)')\nplt.show()\nimport pandas as pd\npd.DataFrame({'a': [1]})"
        run = self.sandbox.run_code(code)
        self.assertIn('"chart"', run.to_json())
        chart, table = run.results
        self.assertEqual((chart.chart.x_unit, chart.chart.elements[0].points, chart.extra), ("s", [(1.0, 3.0), (2.0, 4.0)], {}))
        self.assertEqual((table.data, table.extra), ({"a": [1]}, {}))

    def test_gone(self) -> None:
        gone = Sandbox.create(timeout=60, **CONNECTION)
        gone.kill()
        self.assertEqual([gone.is_running(), gone.is_running()], [False, False])
        for _ in range(2):
            with self.assertRaises(TimeoutException):
                gone.commands.run("true")

    def test_files(self) -> None:
        self.sandbox.files.write("a/b.txt", "one")
        self.assertEqual(self.sandbox.files.read("a/b.txt"), "one")
        with self.assertRaises(NotFoundException):
            self.sandbox.files.read("a/missing.txt")
        self.sandbox.files.write("/workspace/w.txt", "two\n")
        found = self.sandbox.commands.run("ls /workspace | grep w.txt; find /home/user -name w.txt; find . -path /app -o -name w.txt").stdout
        self.assertEqual(found, "w.txt\n/home/user/w.txt\n./w.txt\n")
        self.assertEqual(self.sandbox.commands.run("cat /app/w.txt ~/w.txt; sudo echo run").stdout, "two\ntwo\nrun\n")
        self.assertEqual(self.sandbox.files.write("m.txt", "x", metadata={"author": "ann"}).path, "/home/user/m.txt")
        self.assertEqual(self.sandbox.files.get_info("m.txt").metadata, {"author": "ann"})

    def test_folders(self) -> None:
        files = self.sandbox.files
        self.assertTrue(files.make_dir("folder/inner"))
        self.assertFalse(files.make_dir("folder/inner"))
        files.write("folder/a.txt", "abc", gzip=True)
        self.assertEqual(files.read("folder/a.txt", gzip=True), "abc")
        entries = {entry.name: entry for entry in files.list("folder")}
        self.assertEqual({name: entry.type for name, entry in entries.items()}, {"a.txt": FileType.FILE, "inner": FileType.DIR})
        self.assertEqual((entries["a.txt"].size, files.get_info("folder/a.txt").modified_time.year > 2000), (3, True))
        files.rename("folder/a.txt", "folder/b.txt")
        self.assertEqual((files.exists("folder/a.txt"), files.exists("folder/b.txt")), (False, True))
        files.remove("folder")
        with self.assertRaises(NotFoundException):
            files.list("folder")

    def test_watch(self) -> None:
        self.sandbox.files.make_dir("watched")
        watcher = self.sandbox.files.watch_dir("watched")
        self.sandbox.commands.run("echo 1 > watched/new.txt; mv watched/new.txt watched/moved.txt")
        self.assertEqual(
            [(event.name, event.type) for event in watcher.get_new_events()],
            [
                ("new.txt", FilesystemEventType.CREATE),
                ("new.txt", FilesystemEventType.WRITE),
                ("new.txt", FilesystemEventType.RENAME),
                ("moved.txt", FilesystemEventType.CREATE),
            ],
        )
        self.sandbox.files.write("watched/api.txt", "b")
        self.assertIn(("api.txt", FilesystemEventType.WRITE), [(event.name, event.type) for event in watcher.get_new_events()])
        watcher.stop()

    def test_commands(self) -> None:
        commands = self.sandbox.commands
        result = commands.run("echo $GREETING $OTHER; echo e >&2", envs={"OTHER": "you"}, cwd="/mnt/data")
        self.assertEqual((result.stdout, result.stderr, result.exit_code), ("hello you\n", "e\n", 0))
        with self.assertRaises(CommandExitException) as failed:
            commands.run("exit 3")
        self.assertEqual(failed.exception.exit_code, 3)
        reader = commands.run("cat", background=True, stdin=True)
        self.assertIn(reader.pid, [process.pid for process in commands.list()])
        commands.send_stdin(reader.pid, "typed\n")
        commands.close_stdin(reader.pid)
        self.assertEqual(reader.wait().stdout, "typed\n")
        sleeper = commands.run("sleep 600", background=True)
        self.assertTrue(commands.kill(sleeper.pid))
        with self.assertRaises(CommandExitException):
            sleeper.wait()

    def test_terminal(self) -> None:
        terminal = self.sandbox.pty.create(size=PtySize(rows=30, cols=100))
        self.sandbox.pty.send_stdin(terminal.pid, b"stty size; exit\n")
        printed = b"".join(pty for _, _, pty in terminal if pty is not None)
        self.assertIn(b"30 100", printed)

    def test_life(self) -> None:
        self.assertTrue(self.sandbox.is_running())
        listed = Sandbox.list(api_key=CONNECTION["api_key"], api_url=CONNECTION["api_url"]).next_items()
        self.assertIn(self.sandbox.sandbox_id, [entry.sandbox_id for entry in listed])
        self.sandbox.run_code("kept = 7")
        self.sandbox.pause()
        resumed = Sandbox.connect(self.sandbox.sandbox_id, **CONNECTION)
        self.assertEqual(resumed.run_code("kept").text, "7")


if __name__ == "__main__":
    unittest.main()
