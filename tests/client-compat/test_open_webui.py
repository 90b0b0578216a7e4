"""Open WebUI in front of a running Cellblock: its own server, called over HTTP and its socket as its page calls it."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

import httpx
import socketio

MODEL = os.environ["OPEN_WEBUI_MODEL"]
# The two blocks of settings in docs/clients.md.
INTERPRETER = json.loads(os.environ["OPEN_WEBUI_INTERPRETER"])
TOOLS = json.loads(os.environ["OPEN_WEBUI_TOOLS"])
START_SECONDS = 180
TURN_SECONDS = 120
# Settings of every test server. None of them is about models or tools.
OWN = {
    "ENABLE_OLLAMA_API": "False",
    "HF_HUB_OFFLINE": "1",
    "OFFLINE_MODE": "True",
    # The packages of its slim image are installed.
    "USE_SLIM_DOCKER": "True",
    "WEBUI_AUTH": "False",
    "WEBUI_SECRET_KEY": "0123456789abcdef0123456789abcdef",
}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Page:
    """One chat of the page: sends messages, and receives what the socket streams."""

    def __init__(self, http: httpx.Client, token: str, tool_ids: tuple[str, ...] = ()) -> None:
        self.http = http
        self.tool_ids = tool_ids
        self.chat_id: str | None = None
        self.last_answer: str | None = None
        self.streamed: dict[str, str] = {}
        self.socket = socketio.Client()
        self.socket.on("events", self.receive)
        self.socket.connect(str(http.base_url), socketio_path="/ws/socket.io", auth={"token": token}, transports=["websocket"])
        self.socket.call("user-join", {"auth": {"token": token}})

    def receive(self, event: dict) -> None:
        data = event["data"].get("data")
        if isinstance(data, dict) and data.get("type") == "response.output_text.delta":
            self.streamed[event["message_id"]] = self.streamed.get(event["message_id"], "") + data["delta"]

    def send(self, text: str) -> str:
        """Sends a message, and returns the text of the answer."""
        return self.send_for_message(text)["content"]

    def send_for_message(self, text: str) -> dict:
        """Sends a message, and returns the answer as the chat keeps it."""
        question, answer = str(uuid.uuid4()), str(uuid.uuid4())
        body = {
            "stream": True,
            "model": MODEL,
            "params": {},
            "tool_ids": list(self.tool_ids),
            "tool_servers": [],
            "features": {},
            "variables": {},
            "session_id": self.socket.get_sid(),
            "id": answer,
            "parent_id": self.last_answer,
            "user_message": {
                "id": question,
                "parentId": self.last_answer,
                "childrenIds": [],
                "role": "user",
                "content": text,
                "timestamp": int(time.time()),
                "models": [MODEL],
            },
            "background_tasks": {"title_generation": self.chat_id is None, "tags_generation": False, "follow_up_generation": False},
        }
        if self.chat_id is not None:
            body["chat_id"] = self.chat_id
        accepted = self.http.post("/api/chat/completions", json=body).raise_for_status().json()
        self.chat_id, self.last_answer = accepted["chat_id"], answer
        message = self.wait_for(lambda chat: next((one for one in self.messages_of(chat) if one["id"] == answer and one.get("done")), None))
        if "error" in message:
            raise AssertionError(f"The chat shows an error: {message['error']}")
        return message

    def title(self, untitled: str = "New Chat") -> str:
        return self.wait_for(lambda chat: None if chat["title"] == untitled else chat["title"])

    @staticmethod
    def messages_of(chat: dict) -> list[dict]:
        return list(chat["chat"]["history"]["messages"].values())

    def wait_for(self, find):
        """Reads the chat until `find` returns something."""
        deadline = time.monotonic() + TURN_SECONDS
        while time.monotonic() < deadline:
            chat = self.http.get(f"/api/v1/chats/{self.chat_id}").raise_for_status().json()
            if (found := find(chat)) is not None:
                return found
            time.sleep(0.2)
        raise AssertionError(f"Not done after {TURN_SECONDS} s: {json.dumps(chat)}")


class Server(unittest.TestCase):
    """A server of Open WebUI with `settings` and an empty database."""

    settings: dict[str, str] = {}

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        log = pathlib.Path(folder.name, "log")
        data = pathlib.Path(folder.name, "data")
        data.mkdir()
        port = free_port()
        program = [str(pathlib.Path(sys.executable).with_name("open-webui")), "serve", "--host", "127.0.0.1", "--port", str(port)]
        environment = {**os.environ, **OWN, **cls.settings, "DATA_DIR": str(data)}
        with log.open("w") as output:
            cls.process = subprocess.Popen(program, env=environment, cwd=folder.name, stdout=output, stderr=subprocess.STDOUT)
        cls.addClassCleanup(cls.process.wait)
        cls.addClassCleanup(cls.process.terminate)
        cls.http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=TURN_SECONDS)
        cls.addClassCleanup(cls.http.close)
        cls.wait_until_healthy(log)
        signed_in = cls.http.post("/api/v1/auths/signin", json={"email": "", "password": ""})
        cls.token = signed_in.raise_for_status().json()["token"]
        cls.http.headers["authorization"] = f"Bearer {cls.token}"

    @classmethod
    def wait_until_healthy(cls, log: pathlib.Path) -> None:
        deadline = time.monotonic() + START_SECONDS
        while cls.process.poll() is None and time.monotonic() < deadline:
            try:
                if cls.http.get("/health").is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.2)
        raise AssertionError(f"Open WebUI did not start:\n{log.read_text()[-4000:]}")

    def open_page(self, *tool_ids: str) -> Page:
        models = self.http.get("/api/models").raise_for_status().json()["data"]
        self.assertIn(MODEL, [model["id"] for model in models])
        page = Page(self.http, self.token, tool_ids)
        self.addCleanup(page.socket.disconnect)
        return page


class CodeInterpreter(Server):
    settings = INTERPRETER

    def test_a_chat_streams_what_code_printed_and_keeps_its_history(self) -> None:
        page = self.open_page()
        first = page.send("Compute 6 * 7.")
        self.assertIn("stdout:\n42", first)
        self.assertEqual(page.streamed[page.last_answer], first)
        self.assertIn("stdout:\n84", page.send("And twice that?"))

    def test_an_answer_links_to_a_file_of_the_container(self) -> None:
        text = self.open_page().send("Write a file.")
        self.assertRegex(text, r"^See \[the note\]\(http://\S+\)\.$")
        url = text.removeprefix("See [the note](").removesuffix(").")
        self.assertEqual(httpx.get(url, follow_redirects=True).raise_for_status().text, "written")

    def test_the_model_names_the_chat(self) -> None:
        page = self.open_page()
        page.send("Compute 6 * 7.")
        self.assertEqual(page.title(), "Products of numbers")


class ToolServer(Server):
    # Without the other settings: Open WebUI keeps its own tools beside these.
    settings = {name: INTERPRETER[name] for name in ("OPENAI_API_BASE_URL", "OPENAI_API_KEY")} | TOOLS

    def test_a_chat_runs_code_with_the_tools_of_mcp_in_one_container(self) -> None:
        offered = self.http.get("/api/v1/tools/").raise_for_status().json()
        self.assertIn(("server:mcp:cellblock", "Cellblock"), [(tool["id"], tool["name"]) for tool in offered])
        page = self.open_page("server:mcp:cellblock")
        self.assertIn('"stdout": "42\\n"', page.send("Compute 6 * 7."))
        self.assertIn('"stdout": "84\\n"', page.send("And twice that?"))

    def test_a_chat_shows_pictures_of_code(self) -> None:
        output = self.open_page("server:mcp:cellblock").send_for_message("Draw a line.")["output"]
        (picture,) = [file for item in output for file in item.get("files", [])]
        self.assertEqual(picture["type"], "image")
        self.assertTrue(self.http.get(picture["url"]).raise_for_status().content.startswith(b"\x89PNG"))


# The base class has no tests.
del Server

if __name__ == "__main__":
    unittest.main()
