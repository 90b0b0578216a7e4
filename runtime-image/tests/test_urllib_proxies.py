"""`urlopen` with a proxy that appears after the first request."""

import http.server
import os
import threading
import unittest
import urllib.error
import urllib.request
from unittest import mock

from cellblock_supervisor.worker.libraries.urllib_proxies import follow_variables

URL = "http://host.example/"


class Proxy(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"proxied {self.path}".encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


class UrllibProxiesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.server = http.server.HTTPServer(("127.0.0.1", 0), Proxy)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.variables = {"http_proxy": f"http://127.0.0.1:{self.server.server_port}"}
        for name in ("urlopen", "install_opener"):
            patched = mock.patch.object(urllib.request, name, getattr(urllib.request, name))
            patched.start()
            self.addCleanup(patched.stop)
        follow_variables(urllib.request, None)

    def tearDown(self) -> None:
        urllib.request.install_opener(None)
        self.server.shutdown()
        self.server.server_close()

    def read(self) -> bytes:
        with urllib.request.urlopen(URL, timeout=5) as answer:
            return bytes(answer.read())

    def test_a_proxy_that_appears_after_the_first_request_is_used(self) -> None:
        with self.assertRaises(urllib.error.URLError):
            self.read()
        with mock.patch.dict(os.environ, self.variables):
            self.assertEqual(self.read(), b"proxied http://host.example/")
        with self.assertRaises(urllib.error.URLError):
            self.read()

    def test_an_opener_that_code_installed_stays(self) -> None:
        own = urllib.request.ProxyHandler({"http": self.variables["http_proxy"]})
        urllib.request.install_opener(urllib.request.build_opener(own))
        with mock.patch.dict(os.environ, {"http_proxy": "http://127.0.0.1:1"}):
            self.assertEqual(self.read(), b"proxied http://host.example/")


if __name__ == "__main__":
    unittest.main()
