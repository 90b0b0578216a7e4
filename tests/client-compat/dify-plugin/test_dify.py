"""The tools of Dify's plugin for E2B, as its plugin daemon calls them."""

import base64
import functools
import http.server
import os
import pathlib
import sys
import tempfile
import threading
import unittest
import urllib.request

import e2b
from dify_plugin.errors.tool import ToolProviderCredentialValidationError
from dify_plugin.file.entities import FileType
from dify_plugin.file.file import File

sys.path.insert(0, os.environ["DIFY_PLUGIN"])

from provider.e2b import E2bProvider
from tools.download_file import DownloadFileTool
from tools.run_code import RunCodeTool
from tools.run_command import RunCommandTool
from tools.upload_file import UploadFileTool

KEY = os.environ["DIFY_KEY"]
OTHER_KEY = os.environ["DIFY_OTHER_KEY"]
PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"


def use(tool: type, key: str = KEY, **parameters: object) -> dict:
    (message,) = tool.from_credentials({"api_key": key, "domain": os.environ["DIFY_DOMAIN"]}).invoke(parameters)
    return message.message.json_object


class Served:
    """A file at an address, as Dify gives it to a plugin."""

    def __init__(self, text: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        pathlib.Path(self.folder.name, "rows.csv").write_text(text)
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=self.folder.name)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.file = File(url=f"http://127.0.0.1:{self.server.server_port}/rows.csv", type=FileType.DOCUMENT)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.folder.cleanup()


class DifyTest(unittest.TestCase):
    def test_credentials(self) -> None:
        domain = os.environ["DIFY_DOMAIN"]
        E2bProvider().validate_credentials({"api_key": KEY, "domain": domain})
        with self.assertRaises(ToolProviderCredentialValidationError):
            E2bProvider().validate_credentials({"api_key": "e2b_" + "0" * 40, "domain": domain})

    def test_a_conversation(self) -> None:
        first = use(RunCodeTool, code="open('note.txt', 'w').write('kept')\nprint(6 * 7)")
        sandbox = first["sandbox_id"]
        self.assertEqual(first["logs"].stdout, ["42\n"])
        self.assertIsNone(first["error"])

        served = Served("a,b\n1,2\n")
        self.addCleanup(served.close)
        self.assertEqual(use(UploadFileTool, sandbox_id=sandbox, file=served.file, file_path="rows.csv"), {"success": True})
        read = use(RunCodeTool, sandbox_id=sandbox, code="import pandas\nprint(pandas.read_csv('rows.csv').b.sum())")
        self.assertEqual(read["logs"].stdout, ["2\n"])

        plot = use(RunCodeTool, sandbox_id=sandbox, code=PLOT)
        self.assertTrue(base64.b64decode(plot["results"][0].png).startswith(b"\x89PNG"))
        self.assertEqual(use(RunCommandTool, sandbox_id=sandbox, command="cat note.txt")["stdout"], "kept")
        failed = use(RunCodeTool, sandbox_id=sandbox, code="1 / 0")
        self.assertEqual(failed["error"].name, "ZeroDivisionError")

        urllib.request.urlopen(os.environ["DIFY_RESTART"]).read()
        self.assertEqual(use(DownloadFileTool, sandbox_id=sandbox, file_path="note.txt"), {"file_text": "kept"})
        self.assertEqual(use(RunCommandTool, sandbox_id=sandbox, command="cat rows.csv")["stdout"], "a,b\n1,2\n")

        with self.assertRaises(e2b.SandboxException):
            use(DownloadFileTool, key=OTHER_KEY, sandbox_id=sandbox, file_path="note.txt")


if __name__ == "__main__":
    unittest.main()
