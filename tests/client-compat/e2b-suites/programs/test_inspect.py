"""Inspect's own checks of a sandbox, on its provider for E2B. All share one sandbox."""

from collections.abc import AsyncIterator

import pytest_asyncio
from inspect_ai.util import SandboxEnvironment
from inspect_ai.util._sandbox.self_check import *  # noqa: F403
from inspect_sandboxes.e2b._e2b import E2BSandboxEnvironment

TASK = "self_check"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox_env() -> AsyncIterator[SandboxEnvironment]:
    await E2BSandboxEnvironment.task_init(TASK, None)
    environments = await E2BSandboxEnvironment.sample_init(TASK, None, {})
    try:
        yield environments["default"]
    finally:
        await E2BSandboxEnvironment.sample_cleanup(TASK, None, environments, False)
        await E2BSandboxEnvironment.task_cleanup(TASK, None, cleanup=True)
