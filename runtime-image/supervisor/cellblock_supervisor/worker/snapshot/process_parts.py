"""What a namespace snapshot keeps besides variables: the state of the process and of the language sessions."""

from typing import Any

from .losses import Lost, reason
from .process.process_state import ProcessState
from .process.unsaved_state import UnsavedState, named_signal_handlers
from .time_budget import TimeBudget

_SHELL = "bash session"
_R = "r session"


class ProcessParts:
    def __init__(self, process: ProcessState, unsaved: UnsavedState, kernel: Any) -> None:
        self._process = process
        self._unsaved = unsaved
        self._languages = kernel.languages
        self._contexts = kernel.contexts

    def dump(self, budget: TimeBudget, lost: Lost, max_r_bytes: int) -> dict[str, bytes]:
        parts: dict[str, bytes] = {}
        lost += named_signal_handlers()
        try:
            with budget:
                parts = self._process.dump(lost)
                lost += self._unsaved.named(self._contexts.pids)
        except BaseException as error:
            lost.append({"what": "environment", "reason": reason(error, budget)})
        try:
            with budget:
                # While the shell waits: its answers redirect its own descriptors.
                lost += [{"what": what, "reason": why} for what, why in self._languages.unsaved_of_shell()]
                shell = self._languages.save_shell()
            if shell is not None:
                parts[_SHELL] = shell.encode("utf-8", "replace")
        except BaseException as error:
            lost.append({"what": _SHELL, "reason": reason(error, budget)})
        try:
            with budget:
                r = self._languages.save_r(max_r_bytes)
            if r is not None:
                parts[_R], left_out = r
                lost += [{"what": f"R variable {name}", "reason": why} for name, why in left_out]
        except BaseException as error:
            lost.append({"what": _R, "reason": reason(error, budget)})
        lost += [{"what": f"context {name}", "reason": "Variables of contexts besides the default one cannot be saved."} for name in self._contexts.names]
        if self._languages.has_javascript:
            lost.append({"what": "javascript session", "reason": "The variables of a JavaScript session cannot be saved."})
        return parts

    def load(self, part: str, body: bytes) -> None:
        if part == _SHELL:
            self._languages.restore_shell(body.decode("utf-8", "replace"))
        elif part == _R:
            missing = self._languages.restore_r(body)
            if missing:
                raise ValueError(f"These were not restored: {', '.join(missing)}.")
        else:
            self._process.load(part, body)
