"""The fields of a `done` event that executions and commands have in common."""

from dataclasses import dataclass

from ..files.tracker import Changes, FileTracker
from .outputs import Outputs


@dataclass(frozen=True)
class Usage:
    """What the code used: milliseconds of wall-clock time and of processor time, and bytes of memory at its peak."""

    run_ms: float
    cpu_ms: float
    peak_memory_bytes: int


async def changed_files(files: FileTracker) -> Changes:
    """Never raises: when the folder cannot be compared, the result says so, and the next one reports the changes."""
    try:
        return await files.changes()
    except Exception:
        return Changes(skipped=[{"path": ".", "reason": "unreadable"}])


def envelope(outcome: str, usage: Usage, outputs: Outputs, changes: Changes) -> dict[str, object]:
    # Files beyond the bounds of the listing are a truncation too. Their sizes are unknown.
    unlisted = [{"what": "files", "total_bytes": 0, "kept_bytes": 0, "reason": reason} for reason in changes.bounds]
    return {
        "outcome": outcome,
        "run_ms": round(usage.run_ms, 3),
        "cpu_ms": round(usage.cpu_ms, 3),
        "peak_memory_bytes": usage.peak_memory_bytes,
        "output_bytes": outputs.output_bytes,
        "truncated": [*outputs.truncated(), *unlisted],
        "files": changes.files,
        "deleted": changes.deleted,
        "skipped": changes.skipped,
    }
