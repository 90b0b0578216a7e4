"""What the sandbox of OpenAI's Agents SDK does with E2B, in its default workspace `/workspace`, step by step. The SDK has no such tests without fakes."""

import io
import tarfile
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from agents.editor import ApplyPatchOperation
from agents.extensions.sandbox.e2b import E2BSandboxClient, E2BSandboxClientOptions, E2BSandboxType
from agents.sandbox import LocalSnapshotSpec, Manifest
from agents.sandbox.entries import Dir, File
from agents.sandbox.errors import ExecTimeoutError, InvalidManifestPathError, WorkspaceReadNotFoundError
from agents.sandbox.session import SandboxSession

KINDS = [E2BSandboxType.E2B, E2BSandboxType.CODE_INTERPRETER]


def manifest() -> Manifest:
    return Manifest(
        entries={
            "README.md": File(content=b"# Notes\n"),
            "docs": Dir(children={"a.txt": File(content=b"alpha\n"), "deep": Dir(children={"b.txt": File(content=b"beta\n")})}),
        },
        environment={"value": {"CITY": "Zürich"}},
    )


def options(kind: E2BSandboxType, **more: object) -> E2BSandboxClientOptions:
    return E2BSandboxClientOptions(sandbox_type=kind, timeout=300, **more)


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=KINDS, ids=lambda kind: kind.value)
async def session(request: pytest.FixtureRequest) -> AsyncIterator[SandboxSession]:
    created = await E2BSandboxClient().create(manifest=manifest(), options=options(request.param))
    try:
        await created.start()
        yield created
    finally:
        await created.aclose()


async def text(session: SandboxSession, path: str) -> str:
    return (await session.read(Path(path))).read().decode()


async def test_runs(session: SandboxSession) -> None:
    assert await session.running()


async def test_exec_output(session: SandboxSession) -> None:
    result = await session.exec("echo out; echo err >&2; exit 3")
    assert (result.stdout, result.stderr, result.exit_code) == (b"out\n", b"err\n", 3)


async def test_exec_without_shell(session: SandboxSession) -> None:
    assert (await session.exec("printf", "%s|", "a b", "$HOME", shell=False)).stdout == b"a b|$HOME|"


async def test_exec_in_workspace(session: SandboxSession) -> None:
    assert (await session.exec("pwd")).stdout == b"/workspace\n"


async def test_exec_environment(session: SandboxSession) -> None:
    assert (await session.exec('echo "$CITY"')).stdout.decode() == "Zürich\n"


async def test_exec_timeout(session: SandboxSession) -> None:
    with pytest.raises(ExecTimeoutError):
        await session.exec("sleep 30", timeout=2)


async def test_exec_large_output(session: SandboxSession) -> None:
    assert len((await session.exec("head -c 300000 /dev/zero | tr '\\0' x")).stdout) == 300_000


async def test_manifest_files(session: SandboxSession) -> None:
    assert await text(session, "README.md") == "# Notes\n"
    assert await text(session, "docs/deep/b.txt") == "beta\n"
    assert (await session.exec("cat /workspace/docs/a.txt")).stdout == b"alpha\n"


async def test_write_and_read(session: SandboxSession) -> None:
    payload = bytes(range(256)) * 64
    await session.write(Path("new/folder/data.bin"), io.BytesIO(payload))
    assert (await session.read(Path("new/folder/data.bin"))).read() == payload
    assert int((await session.exec("stat -c %s new/folder/data.bin")).stdout) == len(payload)


async def test_write_large(session: SandboxSession) -> None:
    await session.write(Path("large.bin"), io.BytesIO(b"z" * 8_000_000))
    assert len((await session.read(Path("large.bin"))).read()) == 8_000_000
    await session.rm("large.bin")


async def test_overwrite(session: SandboxSession) -> None:
    for content in (b"first", b"2nd"):
        await session.write(Path("twice.txt"), io.BytesIO(content))
    assert await text(session, "twice.txt") == "2nd"


async def test_read_what_a_command_wrote(session: SandboxSession) -> None:
    await session.exec("printf 'from a command' > command.txt")
    assert await text(session, "command.txt") == "from a command"


async def test_missing_file(session: SandboxSession) -> None:
    with pytest.raises(WorkspaceReadNotFoundError):
        await session.read(Path("absent.txt"))


async def test_path_outside(session: SandboxSession) -> None:
    with pytest.raises(InvalidManifestPathError):
        await session.read(Path("../etc/passwd"))


async def test_ls(session: SandboxSession) -> None:
    entries = {Path(entry.path).name: entry for entry in await session.ls("docs")}
    assert set(entries) == {"a.txt", "deep"}
    assert entries["deep"].is_dir()
    assert entries["a.txt"].size == 6


async def test_mkdir_mv_rm(session: SandboxSession) -> None:
    await session.mkdir("one/two", parents=True)
    await session.write(Path("one/two/x.txt"), io.BytesIO(b"x"))
    await session.mv("one/two/x.txt", "one/y.txt")
    assert await text(session, "one/y.txt") == "x"
    await session.rm("one", recursive=True)
    assert "one" not in {Path(entry.path).name for entry in await session.ls(".")}


async def test_same_file(session: SandboxSession) -> None:
    await session.exec("echo x > s.txt; ln -s s.txt link.txt; cp s.txt copy.txt")
    assert await session.same_file("s.txt", "link.txt")
    assert not await session.same_file("s.txt", "copy.txt")


async def test_apply_patch(session: SandboxSession) -> None:
    created = ApplyPatchOperation(type="create_file", path="patched.py", diff="+print(1)\n+print(2)\n")
    await session.apply_patch(created)
    changed = ApplyPatchOperation(type="update_file", path="patched.py", diff="@@\n print(1)\n-print(2)\n+print(3)\n")
    await session.apply_patch(changed)
    assert (await session.exec("python3 patched.py")).stdout == b"1\n3\n"
    await session.apply_patch(ApplyPatchOperation(type="delete_file", path="patched.py"))
    with pytest.raises(WorkspaceReadNotFoundError):
        await session.read(Path("patched.py"))


async def test_extract_tar_and_zip(session: SandboxSession) -> None:
    tar, packed = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        entry = tarfile.TarInfo("inner/t.txt")
        entry.size = 3
        archive.addfile(entry, io.BytesIO(b"one"))
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("inner/z.txt", " two")
    for name, data in (("a.tar", tar), ("a.zip", packed)):
        data.seek(0)
        await session.extract(f"unpacked/{name}", data)
    assert (await session.exec("cat unpacked/inner/t.txt unpacked/inner/z.txt")).stdout == b"one two"


async def test_process_without_terminal(session: SandboxSession) -> None:
    update = await session.pty_exec_start("echo begin; sleep 1; echo finish", yield_time_s=20)
    assert update.exit_code == 0
    assert update.output.split() == [b"begin", b"finish"]


async def test_terminal(session: SandboxSession) -> None:
    update = await session.pty_exec_start("python3", "-i", "-q", shell=False, tty=True, yield_time_s=3)
    assert update.process_id is not None
    answer = await session.pty_write_stdin(session_id=update.process_id, chars="print(6 * 7)\n", yield_time_s=5)
    assert b"42" in answer.output
    await session.pty_terminate_all()


async def test_persist_and_hydrate(session: SandboxSession) -> None:
    await session.exec("mkdir -p keep && printf kept > keep/k.txt")
    archive = io.BytesIO((await session.persist_workspace()).read())
    await session.rm("keep", recursive=True)
    await session.hydrate_workspace(archive)
    assert await text(session, "keep/k.txt") == "kept"


async def test_persist_and_hydrate_large(session: SandboxSession) -> None:
    await session.write(Path("large.bin"), io.BytesIO(bytes(range(256)) * 12_000))
    try:
        await session.hydrate_workspace(io.BytesIO((await session.persist_workspace()).read()))
        assert len((await session.read(Path("large.bin"))).read()) == 3_072_000
    finally:
        await session.rm("large.bin")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.value)
@pytest.mark.parametrize("pauses", [False, True], ids=["kill", "pause"])
async def test_stop_and_resume(kind: E2BSandboxType, pauses: bool, tmp_path: Path) -> None:
    client = E2BSandboxClient()
    snapshot = LocalSnapshotSpec(base_path=tmp_path)
    session = await client.create(manifest=manifest(), snapshot=snapshot, options=options(kind, pause_on_exit=pauses))
    try:
        await session.start()
        await session.write(Path("kept.txt"), io.BytesIO(b"still here"))
        await session.stop()
    finally:
        await session.shutdown()
    resumed = await client.resume(client.deserialize_session_state(session.state.model_dump(mode="json")))
    try:
        await resumed.start()
        assert await text(resumed, "kept.txt") == "still here"
        assert await text(resumed, "docs/a.txt") == "alpha\n"
    finally:
        await resumed.aclose()


async def test_native_snapshot(tmp_path: Path) -> None:
    client = E2BSandboxClient()
    wanted = options(E2BSandboxType.E2B, workspace_persistence="snapshot")
    session = await client.create(snapshot=LocalSnapshotSpec(base_path=tmp_path), options=wanted)
    try:
        await session.start()
        await session.stop()
    finally:
        await session.shutdown()
