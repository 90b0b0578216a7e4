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
import websocket

MODEL = os.environ["OPEN_WEBUI_MODEL"]
# The two blocks of settings in docs/clients.md.
INTERPRETER = json.loads(os.environ["OPEN_WEBUI_INTERPRETER"])
TOOLS = json.loads(os.environ["OPEN_WEBUI_TOOLS"])
TERMINAL = json.loads(os.environ["OPEN_WEBUI_TERMINAL"])
# Restarts Cellblock.
RESTART = os.environ["OPEN_WEBUI_RESTART"]
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

    def __init__(self, http: httpx.Client, token: str, tool_ids: tuple[str, ...] = (), terminal: str | None = None) -> None:
        self.http = http
        self.tool_ids = tool_ids
        self.terminal = terminal
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
        if self.terminal is not None:
            body["terminal_id"] = self.terminal
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
        cls.token = cls.sign_in()
        cls.http.headers["authorization"] = f"Bearer {cls.token}"

    @classmethod
    def sign_in(cls) -> str:
        signed_in = cls.http.post("/api/v1/auths/signin", json={"email": "", "password": ""})
        return signed_in.raise_for_status().json()["token"]

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


class Person:
    """A user of Open WebUI, with the terminal as the page uses it."""

    def __init__(self, http: httpx.Client, token: str) -> None:
        self.token = token
        self.http = httpx.Client(base_url=http.base_url, timeout=TURN_SECONDS, headers={"authorization": f"Bearer {token}"})

    def terminal(self, method: str, path: str, **options) -> httpx.Response:
        return self.http.request(method, f"/api/v1/terminals/cellblock{path}", **options)

    def open_chat(self) -> Page:
        return Page(self.http, self.token, terminal="cellblock")

    def shell(self) -> websocket.WebSocket:
        terminal = self.terminal("POST", "/api/terminals").raise_for_status().json()["id"]
        address = str(self.http.base_url).replace("http", "ws").rstrip("/")
        shell = websocket.create_connection(f"{address}/api/v1/terminals/cellblock/api/terminals/{terminal}", timeout=TURN_SECONDS)
        shell.send(json.dumps({"type": "auth", "token": self.token}))
        return shell


class Terminal(Server):
    settings = {name: INTERPRETER[name] for name in ("OPENAI_API_BASE_URL", "OPENAI_API_KEY")} | TERMINAL | {"WEBUI_AUTH": "True"}

    @classmethod
    def sign_in(cls) -> str:
        admin = {"name": "Ann", "email": "ann@example.com", "password": "correct horse battery"}
        return cls.http.post("/api/v1/auths/signup", json=admin).raise_for_status().json()["token"]

    def setUp(self) -> None:
        self.ann = Person(self.http, self.token)
        self.addCleanup(self.ann.http.close)

    def add_user(self, name: str) -> Person:
        form = {"name": name, "email": f"{name}@example.com", "password": "correct horse battery", "role": "user"}
        added = self.http.post("/api/v1/auths/add", json=form).raise_for_status().json()
        person = Person(self.http, added["token"])
        self.addCleanup(person.http.close)
        return person

    def chat_of(self, person: Person) -> Page:
        # The list of models is loaded with this call.
        person.http.get("/api/models").raise_for_status()
        page = person.open_chat()
        self.addCleanup(page.socket.disconnect)
        return page

    def test_the_connection_is_recognised_and_offered_to_every_user(self) -> None:
        (connection,) = json.loads(TERMINAL["TERMINAL_SERVER_CONNECTIONS"])
        form = {"url": connection["url"], "key": connection["key"]}
        verified = self.http.post("/api/v1/configs/terminal_servers/verify", json=form).raise_for_status().json()
        self.assertEqual(verified, {"status": True, "type": "orchestrator"})
        offered = self.add_user("carol").http.get("/api/v1/terminals/").raise_for_status().json()
        self.assertEqual([(one["id"], one["name"]) for one in offered], [("cellblock", "Cellblock")])

    def test_a_chat_writes_runs_plots_and_shows_and_finds_all_after_a_restart(self) -> None:
        page = self.chat_of(self.ann)
        self.assertIn("/home/user/draw.py", page.send("Write the program."))
        self.assertIn("drawn", page.send("Run the program."))
        shown = page.send_for_message("Show the plot.")
        self.assertIn("/home/user/plot.png", shown["content"])
        plot = self.ann.terminal("GET", "/files/view?path=/home/user/plot.png").raise_for_status()
        self.assertEqual((plot.headers["content-type"], plot.content[:4]), ("image/png", b"\x89PNG"))

        httpx.post(RESTART, timeout=TURN_SECONDS).raise_for_status()
        self.assertEqual(self.ann.terminal("GET", "/files/view?path=/home/user/plot.png").raise_for_status().content, plot.content)
        self.assertIn("draw.py", page.send("List the files."))

        bob = self.add_user("bob")
        listed = bob.terminal("GET", "/files/list?directory=/home/user").raise_for_status().json()
        self.assertEqual(listed["entries"], [])
        self.assertEqual(bob.terminal("GET", "/files/view?path=/home/user/plot.png").status_code, 404)

    def test_the_page_uploads_moves_and_removes(self) -> None:
        dave = self.add_user("dave")
        uploaded = dave.terminal("POST", "/files/upload?directory=/home/user/in", files={"file": ("table.csv", b"a,b\n1,2\n")})
        self.assertEqual(uploaded.raise_for_status().json(), {"path": "/home/user/in/table.csv", "size": 8})
        body = {"source": "/home/user/in/table.csv", "destination": "/home/user/out.csv"}
        dave.terminal("POST", "/files/move", json=body).raise_for_status()
        read = dave.terminal("GET", "/files/read?path=/home/user/out.csv").raise_for_status().json()
        self.assertEqual(read["content"], "a,b\n1,2\n")
        dave.terminal("DELETE", "/files/delete?path=/home/user/in").raise_for_status()
        listed = dave.terminal("GET", "/files/list?directory=/home/user").raise_for_status().json()
        self.assertEqual([entry["name"] for entry in listed["entries"]], ["out.csv"])

    def test_a_user_types_into_a_shell(self) -> None:
        shell = self.add_user("erin").shell()
        self.addCleanup(shell.close)
        shell.send(json.dumps({"type": "resize", "cols": 100, "rows": 30}))
        shell.send_binary(b"stty size; echo $((6 * 7))\n")
        printed = b""
        while b"\n42\r\n" not in printed:
            printed += shell.recv()
        self.assertIn(b"30 100", printed)


# The base class has no tests.
del Server

if __name__ == "__main__":
    unittest.main()
