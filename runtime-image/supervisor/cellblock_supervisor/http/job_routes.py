"""The routes of executions and of commands: start or attach, read on, stop, send input."""

import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from ..execution.event_log import EventLog
from ..execution.job import Job
from ..execution.job_registry import Busy, Expired, FinishedJob, JobRegistry
from ..sandbox import Sandbox
from .body_fields import MAX_BODY_BYTES, integer
from .command_body import command_request, input_entries
from .execution_body import execution_request
from .messages import HttpError, Reply, Request, json_reply

# The response head waits this long for further events, so that a short cell is answered in one piece.
HEAD_SECONDS = 0.01

_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


@dataclass(frozen=True)
class JobRoutes:
    """What the routes of executions and those of commands differ in, and the routes."""

    # With its article.
    noun: str
    registry: Callable[[Sandbox], JobRegistry[Any, Any]]
    parse: Callable[[dict[str, object]], object]
    # Raises HttpError when the sandbox takes none.
    check_state: Callable[[str], None]
    # The code and the sentence when no other one can run now.
    busy: tuple[str, str]

    async def start(self, sandbox: Sandbox, request: Request) -> Reply:
        job_id, registry = self._id(request), self.registry(sandbox)
        job = registry.find(job_id)
        if job is None:
            self.check_state(sandbox.state)
            wanted = self.parse(await request.json(MAX_BODY_BYTES))
            # The same id may have been started while the body arrived.
            job = registry.find(job_id)
        if job is None:
            try:
                job = registry.start(job_id, wanted)
            except Expired:
                raise HttpError("conflict", f"{self.noun} with this id ran here earlier and its events were discarded") from None
            except Busy:
                raise HttpError(*self.busy) from None
        return _stream(job, request)

    async def events(self, sandbox: Sandbox, request: Request) -> Reply:
        return _stream(self.find(sandbox, request), request)

    async def stop(self, sandbox: Sandbox, request: Request) -> Reply:
        job = self.find(sandbox, request)
        body = await request.json(4096)
        job.stop("cancelled", integer(body, "kill_after_ms", 2000, 0, 60_000))
        return json_reply({}, 202)

    def find(self, sandbox: Sandbox, request: Request) -> Job | FinishedJob:
        job = self.registry(sandbox).find(self._id(request))
        if job is None:
            raise HttpError("not_found", f"no {self.noun.partition(' ')[2]} with this id was started in this sandbox")
        return job

    def _id(self, request: Request) -> str:
        if _ID.fullmatch(request.path[1]) is None:
            raise HttpError("bad_request", f"{self.noun} id is 1 to 128 letters, digits, _ or -")
        return request.path[1]


def _refuse_refused(state: str) -> None:
    if state == "refused":
        raise HttpError("unavailable", "this sandbox refused to take work: start another one")


def _refuse_unready(state: str) -> None:
    if state != "ready":
        raise HttpError("unavailable", "this sandbox is not ready for commands: wait until /health says ready, or start another one")


EXECUTIONS = JobRoutes(
    "an execution",
    lambda sandbox: sandbox.executions,
    execution_request,
    _refuse_refused,
    ("conflict", "another execution is running: wait for its done event"),
)
COMMANDS = JobRoutes(
    "a command",
    lambda sandbox: sandbox.commands,
    command_request,
    _refuse_unready,
    ("too_large", "the maximum number of commands runs: wait for one to end or stop one"),
)


async def send_input(sandbox: Sandbox, request: Request) -> Reply:
    """Applies numbered entries once. The answer says how far; entries behind a full buffer have to be sent again later."""
    COMMANDS.find(sandbox, request)
    entries = input_entries(await request.json(MAX_BODY_BYTES))
    running = sandbox.commands.running(request.path[1])
    # A command that has ended reads nothing more, so that everything counts as applied.
    through = running.input.apply(entries) if running is not None else max((entry.seq for entry in entries), default=-1)
    return json_reply({"through": through})


def _stream(job: Job | FinishedJob, request: Request) -> Reply:
    after = request.query.get("after", "-1")
    if re.fullmatch(r"-1|[0-9]{1,15}", after) is None:
        raise HttpError("bad_request", "after must be an event number, or -1 for all")
    reader = _LogReader(job.log, int(after))
    return Reply(content_type="application/x-ndjson", stream=reader.pieces(), more=lambda: reader.has_more)


class _LogReader:
    """Reads the events of a log after number `seq`. None of them is dropped meanwhile."""

    def __init__(self, log: EventLog, seq: int) -> None:
        self._log = log
        self._seq = seq

    @property
    def has_more(self) -> bool:
        return not self._log.closed or self._log.next_seq > self._seq + 1

    async def pieces(self) -> AsyncIterator[bytes]:
        """Events that exist, then new ones. The first piece is empty when there are none in time: it sends the response head."""
        log = self._log
        log.readers += 1
        try:
            if not log.closed:
                await log.wait_for_events(HEAD_SECONDS)
                if log.next_seq <= self._seq + 1:
                    yield b""
            while self.has_more:
                piece, self._seq = log.after(self._seq)
                if piece:
                    yield piece
                else:
                    await log.wait(self._seq)
        finally:
            log.readers -= 1
