"""The route table: method and path to handler."""

from collections.abc import Awaitable, Callable

from ..sandbox import Sandbox
from . import command_routes, execution_routes, file_routes, health_route, namespace_routes, skill_routes
from .messages import HttpError, Reply, Request

Route = Callable[[Sandbox, Request], Awaitable[Reply]]

# `*` stands for one segment, `**` for one or more.
ROUTES: tuple[tuple[str, tuple[str, ...], Route], ...] = (
    ("GET", ("health",), health_route.health),
    ("PUT", ("executions", "*"), execution_routes.start),
    ("GET", ("executions", "*", "events"), execution_routes.events),
    ("POST", ("executions", "*", "interrupt"), execution_routes.interrupt),
    ("PUT", ("commands", "*"), command_routes.start),
    ("GET", ("commands", "*", "events"), command_routes.events),
    ("POST", ("commands", "*", "input"), command_routes.send_input),
    ("POST", ("commands", "*", "stop"), command_routes.stop),
    ("GET", ("files",), file_routes.listing),
    ("GET", ("files", "**"), file_routes.get),
    ("PUT", ("files", "**"), file_routes.put),
    ("DELETE", ("files", "**"), file_routes.delete),
    ("GET", ("skills",), skill_routes.listing),
    ("PUT", ("skills", "*"), skill_routes.put),
    ("POST", ("snapshot",), namespace_routes.snapshot),
    ("POST", ("restore",), namespace_routes.restore),
)


async def dispatch(sandbox: Sandbox, request: Request) -> Reply:
    for method, pattern, route in ROUTES:
        if method == request.method and _matches(pattern, request.path):
            return await route(sandbox, request)
    raise HttpError("not_found", "there is no such route")


def _matches(pattern: tuple[str, ...], path: list[str]) -> bool:
    if pattern[-1] == "**":
        return len(path) >= len(pattern) and tuple(path[: len(pattern) - 1]) == pattern[:-1]
    return len(path) == len(pattern) and all(want in ("*", have) for want, have in zip(pattern, path, strict=True))
