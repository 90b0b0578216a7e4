"""The body that starts an execution."""

from ..execution.execution import ExecutionRequest
from ..execution.outputs import MAX_DISPLAY_EVENTS
from .body_fields import check_version, context_name, environment, folder, integer, job_limits
from .messages import HttpError

MAX_CELLS = 1_000
LANGUAGES = ("python", "bash", "javascript", "typescript", "r")


def execution_request(body: dict[str, object]) -> ExecutionRequest:
    check_version(body)
    cells = body.get("cells")
    if not isinstance(cells, list) or not 1 <= len(cells) <= MAX_CELLS:
        raise HttpError("bad_request", f"cells must be a list of 1 to {MAX_CELLS} cells")
    codes: list[str] = []
    for cell in cells:
        code = cell.get("code") if isinstance(cell, dict) else None
        if not isinstance(code, str):
            raise HttpError("bad_request", "each cell must be an object with a string called code")
        codes.append(code)
    on_error = body.get("on_error", "stop")
    if on_error not in ("stop", "continue"):
        raise HttpError("bad_request", "on_error must be stop or continue")
    store_history = body.get("store_history", True)
    if not isinstance(store_history, bool):
        raise HttpError("bad_request", "store_history must be true or false")
    language = body.get("language", "python")
    if language not in LANGUAGES:
        raise HttpError("bad_request", f"language must be one of {', '.join(LANGUAGES)}")
    return ExecutionRequest(
        cells=tuple(codes),
        limits=job_limits(body),
        on_error=str(on_error),
        store_history=store_history,
        max_displays=min(integer(body, "max_displays", MAX_DISPLAY_EVENTS, 0, 2**53), MAX_DISPLAY_EVENTS),
        env=environment(body) or None,
        cwd=folder(body),
        language=str(language),
        context=context_name(body),
    )
