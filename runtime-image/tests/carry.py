"""Carries variables from one kernel to the next, without their processes."""

from cellblock_supervisor.worker.snapshot.restore import NamespaceRestorer
from cellblock_supervisor.worker.snapshot.save import NamespaceSaver
from cellblock_supervisor.worker.snapshot.time_budget import TimeBudget


class Shell:
    user_ns_hidden = ()
    execution_count = 1

    def __init__(self, variables: dict[str, object]) -> None:
        self.user_ns = variables


class Pipe:
    """A channel whose packets are read back."""

    def __init__(self) -> None:
        self.packets: list[bytes] = []

    def send_bulk(self, data: bytes | memoryview) -> None:
        if len(data):
            self.packets.append(bytes(data))

    def receive_bulk(self, target: memoryview) -> tuple[int, memoryview] | None:
        if not self.packets:
            return None
        packet = memoryview(self.packets.pop(0))
        count = min(len(packet), len(target))
        target[:count] = packet[:count]
        return count, packet[count:]


class NoProcessParts:
    """A kernel whose process has no state beside its variables."""

    def dump(self, _budget: TimeBudget, _lost: list[dict[str, str]], _max_r_bytes: int) -> dict[str, bytes]:
        return {}


def carry(variables: dict[str, object], budget_ms: int = 10_000) -> tuple[dict[str, object], dict[str, str]]:
    """The variables of the next kernel, and what is reported as lost."""
    pipe = Pipe()
    NamespaceSaver(Shell(variables), pipe, NoProcessParts()).save(1 << 30, [], TimeBudget(budget_ms))  # type: ignore[arg-type]
    shell = Shell({})
    reply = NamespaceRestorer(shell, pipe, NoProcessParts()).restore(TimeBudget(budget_ms))  # type: ignore[arg-type]
    return shell.user_ns, {entry["what"]: entry["reason"] for entry in reply["lost"]}  # type: ignore[union-attr]
