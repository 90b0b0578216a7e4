"""Starts the kernels of notebooks."""

import os
import tempfile
from typing import Any

from jupyter_client.provisioning import LocalProvisioner


class UnixSocketProvisioner(LocalProvisioner):
    """jupyter_client's provisioner, with Unix sockets: a sandbox has no IP sockets that ZeroMQ can use."""

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        manager = self.parent
        if manager is not None and manager.transport != "ipc":
            manager.transport = "ipc"
            # The prefix of the sockets' paths, which have at most 107 bytes. jupyter_client's default is relative when it chooses the connection file.
            manager.ip = os.path.join(tempfile.gettempdir(), f"kernel-{self.kernel_id}")
        return await super().pre_launch(**kwargs)
