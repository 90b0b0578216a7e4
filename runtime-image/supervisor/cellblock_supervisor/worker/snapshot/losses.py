"""Why a variable or a part of the process was not saved or not restored, as one line."""

from .definitions import defining_line
from .time_budget import TimeBudget, TimeBudgetExceeded

Lost = list[dict[str, str]]


def reason(error: BaseException, budget: TimeBudget) -> str:
    """User code raises what it likes, SystemExit included, and its `__str__` may fail or take long as well."""
    # Not with a property of its metaclass.
    kind = type.__dict__["__name__"].__get__(type(error))
    try:
        if type(error) is TimeBudgetExceeded:
            return f"{kind}: {error}"
        with budget:
            return f"{kind}: {error}"[:300]
    except BaseException:
        return kind[:300]


def lost_variable(shell, name: str, error: BaseException, budget: TimeBudget) -> dict[str, str]:  # type: ignore[no-untyped-def]
    return {"what": name, "reason": f"{reason(error, budget)[:180]}. {defining_line(shell, name)}".removesuffix(". ")}
