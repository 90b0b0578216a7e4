"""The official Python client against a running Cellblock, by its base URL only."""

import io
import os
import pathlib
import tempfile
import unittest

from openai import NotFoundError, OpenAI

BASE_URL = os.environ["CELLBLOCK_URL"] + "/v1"
MODEL = os.environ.get("CELLBLOCK_MODEL", "demo")
TOOLS = [{"type": "code_interpreter", "container": {"type": "auto"}}]
INCLUDE = ["code_interpreter_call.outputs"]


def python(code: str) -> str:
    return f"Run this:\n```python\n{code}\n```"


def call_of(response):
    return next(item for item in response.output if item.type == "code_interpreter_call")


class OfficialClient(unittest.TestCase):
    def setUp(self) -> None:
        self.client = OpenAI(base_url=BASE_URL, api_key=os.environ["CELLBLOCK_API_KEY"])

    def tearDown(self) -> None:
        self.client.close()

    def test_files(self) -> None:
        files = self.client.files
        file = files.create(
            file=("in.csv", io.BytesIO(b"a,b")), purpose="user_data", expires_after={"anchor": "created_at", "seconds": 3600}
        )
        self.assertEqual(file.expires_at, file.created_at + 3600)
        self.assertEqual(files.retrieve(file.id), file)
        self.assertIn(file.id, [one.id for one in files.list(purpose="user_data", limit=2)])
        self.assertEqual(files.content(file.id).read(), b"a,b")
        self.assertTrue(files.delete(file.id).deleted)
        with self.assertRaises(NotFoundError):
            files.retrieve(file.id)

    def test_uploads(self) -> None:
        uploads = self.client.uploads
        upload = uploads.create(filename="x.txt", bytes=4, mime_type="text/plain", purpose="user_data")
        parts = [uploads.parts.create(upload.id, data=data) for data in (b"ab", b"cd")]
        done = uploads.complete(upload.id, part_ids=[part.id for part in parts])
        self.assertEqual(self.client.files.content(done.file.id).read(), b"abcd")
        other = uploads.create(filename="x.txt", bytes=4, mime_type="text/plain", purpose="user_data")
        self.assertEqual(uploads.cancel(other.id).status, "cancelled")

    def test_upload_file_chunked(self) -> None:
        done = self.client.uploads.upload_file_chunked(
            file=b"x" * 3_000_000, filename="x.bin", bytes=3_000_000, mime_type="text/plain", purpose="user_data", part_size=1_000_000
        )
        self.assertEqual(done.file.bytes, 3_000_000)

    def test_upload_of_the_largest_file(self) -> None:
        size = 512 * 1024 * 1024
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "huge.bin")
            with path.open("wb") as file:
                file.truncate(size)
            done = self.client.uploads.upload_file_chunked(file=path, mime_type="text/plain", purpose="user_data")
        self.assertEqual(done.file.bytes, size)
        self.client.files.delete(done.file.id)

    def test_containers(self) -> None:
        containers = self.client.containers
        source = self.client.files.create(file=("in.csv", b"a,b"), purpose="user_data")
        container = containers.create(name="client", file_ids=[source.id])
        own = containers.files.create(container.id, file=("own.txt", b"own"))
        self.assertEqual(len(list(containers.files.list(container.id))), 2)
        self.assertEqual(containers.files.content.retrieve(own.id, container_id=container.id).read(), b"own")
        self.assertEqual(containers.files.retrieve(own.id, container_id=container.id).path, "/mnt/data/own.txt")
        containers.files.delete(own.id, container_id=container.id)
        self.assertIn(container.id, [one.id for one in containers.list(limit=2)])
        self.assertEqual(containers.retrieve(container.id).name, "client")
        containers.delete(container.id)
        with self.assertRaises(NotFoundError):
            containers.retrieve(container.id)

    def test_responses_and_conversations(self) -> None:
        conversation = self.client.conversations.create(metadata={"a": "b"})
        create = self.client.responses.create
        first = create(model=MODEL, tools=TOOLS, input=python("kept = 7"), conversation=conversation.id)
        second = create(model=MODEL, tools=TOOLS, include=INCLUDE, input=python("print(kept * 6)"), conversation=conversation.id)
        self.assertEqual(call_of(first).container_id, call_of(second).container_id)
        self.assertIn("42", call_of(second).outputs[0].logs)
        items = list(self.client.conversations.items.list(conversation.id, order="asc", limit=2))
        self.assertEqual(len(items), 6)
        self.client.conversations.delete(conversation.id)
        self.client.containers.delete(call_of(first).container_id)

    def test_stream(self) -> None:
        with self.client.responses.stream(model=MODEL, tools=TOOLS, input=python("print(6 * 7)")) as stream:
            numbers = [event.sequence_number for event in stream]
            final = stream.get_final_response()
        self.assertEqual(numbers, list(range(len(numbers))))
        self.assertIn("42", final.output_text)
        self.client.containers.delete(call_of(final).container_id)


if __name__ == "__main__":
    unittest.main()
