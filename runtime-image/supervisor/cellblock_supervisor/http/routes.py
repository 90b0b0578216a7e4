"""The route table: method and path to handler."""

from collections.abc import Awaitable, Callable

from ..sandbox import Sandbox
from . import file_routes, health_route, namespace_routes, network_routes, port_routes, skill_routes, suspend_route
from .job_routes import COMMANDS, EXECUTIONS, send_input
from .messages import HttpError, Reply, Request

Route = Callable[[Sandbox, Request], Awaitable[Reply]]

# `*` stands for one segment, `**` for one or more.
ROUTES: tuple[tuple[str, tuple[str, ...], Route], ...] = (
    ("GET", ("health",), health_route.health),
    ("PUT", ("executions", "*"), EXECUTIONS.start),
    ("GET", ("executions", "*", "events"), EXECUTIONS.events),
    ("POST", ("executions", "*", "interrupt"), EXECUTIONS.stop),
    ("PUT", ("commands", "*"), COMMANDS.start),
    ("GET", ("commands", "*", "events"), COMMANDS.events),
    ("POST", ("commands", "*", "input"), send_input),
    ("POST", ("commands", "*", "stop"), COMMANDS.stop),
    ("GET", ("files",), file_routes.listing),
    ("GET", ("files", "**"), file_routes.get),
    ("PUT", ("files", "**"), file_routes.put),
    ("DELETE", ("files", "**"), file_routes.delete),
    ("GET", ("skills",), skill_routes.listing),
    ("PUT", ("skills", "*"), skill_routes.put),
    ("PUT", ("network",), network_routes.put),
    ("DELETE", ("network",), network_routes.delete),
    ("POST", ("network", "connections"), network_routes.accept),
    ("GET", ("ports",), port_routes.listing),
    ("POST", ("ports", "*", "connections"), port_routes.connect),
    ("POST", ("snapshot",), namespace_routes.snapshot),
    ("POST", ("restore",), namespace_routes.restore),
    ("POST", ("suspend",), suspend_route.suspend),
)


async def dispatch(sandbox: Sandbox, request: Request) -> Reply:
    sandbox.shutdown.note_request(request.method, request.path)
    for method, pattern, route in ROUTES:
        if method == request.method and _matches(pattern, request.path):
            return await route(sandbox, request)
    raise HttpError("not_found", "there is no such route")


def _matches(pattern: tuple[str, ...], path: list[str]) -> bool:
    if pattern[-1] == "**":
        return len(path) >= len(pattern) and tuple(path[: len(pattern) - 1]) == pattern[:-1]
    return len(path) == len(pattern) and all(want in ("*", have) for want, have in zip(pattern, path, strict=True))
