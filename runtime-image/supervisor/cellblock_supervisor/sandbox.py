"""The parts of one sandbox and its start: control port, self-test, zygote, files helper, kernel."""

import asyncio
import os
import sys
import traceback
from typing import TYPE_CHECKING

from .cgroup import Cgroup
from .config import DATA_DIR, EXIT_NO_KERNEL, Config, with_identity
from .execution.commands import Commands
from .execution.executions import Executions
from .execution.job import JobContext
from .execution.kernel_host import KernelHost, Listener
from .execution.memory_monitor import MemoryMonitor
from .execution.namespace import Namespace
from .execution.periodic_monitor import PeriodicMonitor
from .execution.worker_processes import credentials
from .execution.zygote_client import ZygoteExitedError
from .files.client import FilesClient
from .files.tracker import FileTracker
from .refusal_codes import refusal_code
from .shutdown import Shutdown
from .signing import Verifier
from .worker.isolation.drop_privileges import unmap_used_code

if TYPE_CHECKING:
    from .network.network import Network
    from .network.ports import Ports

_IDLE_CHECK_SECONDS = 0.5


def _open_data_folder() -> int:
    """The supervisor has no right to open the worker's folder, and needs none to list an open one."""
    with credentials():
        return os.open(DATA_DIR, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


class Sandbox:
    """`decided` is set when the state is `ready` or `refused`."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.state = "starting"
        self.refused: list[str] = []
        self.decided = asyncio.Event()
        self.finished: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._boot_nonce = os.urandom(18).hex()
        self.cgroup = Cgroup()
        self.kernel = KernelHost(config.limits, self.cgroup, self._on_unusable)
        self.files = FilesClient(self.kernel.fork_files_helper)
        self.tracker = FileTracker(self.files, _open_data_folder)
        context = JobContext(self.kernel, self.tracker, self.cgroup, config.limits)
        self.executions = Executions(context)
        self.commands = Commands(context)
        self.kernel.spared_sessions = self.commands.sessions
        # Set from the request for a suspension until the sandbox continues.
        self.suspending = asyncio.Event()
        self.shutdown = Shutdown(config.stop_seconds, self.is_busy, self._stop)
        # Made by the first policy.
        self.network: Network | None = None
        self._ports: Ports | None = None
        self.namespace = Namespace(self.kernel, self.executions, self.cgroup, config.limits)

    async def start(self) -> None:
        """Runs the self-test, preloads modules and starts the kernel. A failure ends the process with a documented exit code."""
        from . import isolation_checks

        try:
            self.refused = await isolation_checks.run_checks(self.config, self.kernel)
            if self.refused:
                self._refuse()
                return
            failed = await self.kernel.preload(self.config.limits.preload)
            if failed:
                print(f"cellblock: could not preload {', '.join(failed)}", file=sys.stderr)
            # Starts the helper, whose memory the zygote shares from here on.
            await self.files.scan()
            await self.kernel.start()
            if self.config.limits.preload:
                await self.executions.warm_up_kernel()
        except (OSError, TimeoutError, ZygoteExitedError) as error:
            self._on_unusable(f"the kernel could not be started: {error or 'it did not answer'}")
            return
        except Exception:
            # Without this a fault of the supervisor would leave the sandbox in `starting` for ever.
            traceback.print_exc(file=sys.stderr)
            self._on_unusable("the supervisor failed while it started")
            return
        self._watch_memory()
        unmap_used_code()
        self.state = "ready"
        self.decided.set()

    def _watch_memory(self) -> None:
        """Where the cgroup has no limit, background processes are watched between executions too."""
        limit = self.config.limits.memory_bytes
        if limit is not None and self.cgroup.memory_limit() is None:
            monitor = MemoryMonitor(self.cgroup, limit, lambda: self.kernel.kill(for_memory=True))
            self._memory_monitor = PeriodicMonitor(monitor.check, interval_seconds=_IDLE_CHECK_SECONDS)

    async def become_copy(self, identity: bytes) -> Verifier:
        """This sandbox continues from the checkpoint of another one, under its own name and key, and draws other random numbers."""
        self.config = with_identity(self.config, identity)
        self._boot_nonce = os.urandom(18).hex()
        await self.kernel.request({"op": "renew_random"}, Listener())
        return Verifier(self.config.sandbox_id, self.config.public_key)

    def health(self) -> dict[str, object]:
        return {
            "v": 1,
            "sandbox_id": self.config.sandbox_id,
            "state": self.state,
            "boot_nonce": self._boot_nonce,
            "kernel": self.kernel.state,
            "kernel_generation": self.kernel.generation,
            "python": self.kernel.python or ".".join(map(str, sys.version_info[:3])),
            "refused": self.refused,
        }

    def ports(self) -> "Ports":
        # Imported here, so that a sandbox without visitors does without it.
        from .network.ports import Ports

        self._ports = self._ports or Ports(self.files.connect)
        return self._ports

    def suspend(self) -> None:
        """The time until `resume` counts against no limit of a command."""
        self.commands.pause()
        self.suspending.set()

    def resume(self) -> None:
        self.suspending.clear()
        self.commands.resume()

    def is_busy(self) -> bool:
        return self.executions.busy or self.commands.busy

    def _stop(self) -> None:
        self.kernel.stop()
        self._finish(0)

    def _refuse(self) -> None:
        self.state = "refused"
        self.decided.set()
        print(f"cellblock: refused, these isolation checks failed: {', '.join(self.refused)}", file=sys.stderr, flush=True)
        # Clients that wait on /health receive the answer before the process ends.
        asyncio.get_running_loop().call_later(0.3, self._finish, refusal_code(self.refused))

    def _on_unusable(self, reason: str) -> None:
        print(f"cellblock: {reason}", file=sys.stderr, flush=True)
        self._finish(EXIT_NO_KERNEL)

    def _finish(self, code: int) -> None:
        if not self.finished.done():
            self.finished.set_result(code)
