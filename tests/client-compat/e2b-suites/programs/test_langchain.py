"""LangChain's standard tests of sandboxes, on the integration for E2B."""

from collections.abc import Iterator

import pytest
from deepagents.backends.protocol import SandboxBackendProtocol
from e2b import Sandbox
from langchain_e2b import E2BSandbox
from langchain_tests.integration_tests import SandboxIntegrationTests


class TestE2BSandbox(SandboxIntegrationTests):
    @pytest.fixture(scope="class")
    def sandbox(self) -> Iterator[SandboxBackendProtocol]:
        created = Sandbox.create(timeout=3600)
        try:
            yield E2BSandbox(sandbox=created)
        finally:
            created.kill()
