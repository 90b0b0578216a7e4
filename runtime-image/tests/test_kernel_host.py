"""The start of a kernel, for every order in which messages of the zygote and the kernel arrive."""

import asyncio
import json
import os
import socket
import unittest

from cellblock_supervisor import packets
from cellblock_supervisor.cgroup import Cgroup
from cellblock_supervisor.config import Limits
from cellblock_supervisor.execution.kernel_host import KernelHost, Listener

FIRST_PID = 2**22 + 1


class ScriptedZygote:
    """Forks nothing: each kernel is a socket with the id of a process that does not exist."""

    def __init__(self) -> None:
        self.kernels: list[socket.socket] = []
        # Whether `ready` arrives before `started`, as on a busy machine.
        self.speaks_first = True

    async def fork(self, _op: str, _rlimits: object, fds: list[int]) -> int:
        kernel = socket.socket(fileno=os.dup(fds[0]))
        self.kernels.append(kernel)
        if self.speaks_first:
            self.say(kernel, {"op": "ready", "python": "3"})
        for _ in range(3):
            await asyncio.sleep(0)
        return FIRST_PID + len(self.kernels) - 1

    @staticmethod
    def say(kernel: socket.socket, message: dict[str, object]) -> None:
        for packet in packets.fragments(1, json.dumps(message).encode()):
            kernel.send(packet)


class Starts(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.host = KernelHost(Limits(), Cgroup(), lambda _reason: None)
        self.zygote = ScriptedZygote()
        self.host.zygote = self.zygote  # type: ignore[assignment]

    async def asyncTearDown(self) -> None:
        self.host.link.close()
        for kernel in self.zygote.kernels:
            kernel.close()

    async def test_accepts_a_kernel_whose_ready_arrives_before_started(self) -> None:
        await asyncio.wait_for(self.host.start(), 10)
        self.assertEqual((self.host.state, self.host.pid), ("idle", FIRST_PID))
        await asyncio.wait_for(self.host.wait_ready(), 1)

    async def test_ignores_the_late_exit_of_a_replaced_kernel(self) -> None:
        self.zygote.speaks_first = False
        with self.assertRaises(TimeoutError):
            await self.host.start(0.01)
        second = asyncio.create_task(self.host.start())
        while len(self.zygote.kernels) < 2:
            await asyncio.sleep(0)
        self.host._on_exit(FIRST_PID, None, 9)
        self.zygote.say(self.zygote.kernels[1], {"op": "ready", "python": "3"})
        await asyncio.wait_for(second, 10)
        self.assertEqual((self.host.state, self.host.pid, self.host.lost_while_idle), ("idle", FIRST_PID + 1, False))

    async def test_sends_a_request_to_the_next_kernel_when_the_present_one_has_ended(self) -> None:
        await self.host.start()
        self.host._ready.clear()
        asking = asyncio.create_task(self.host.request({"op": "execute"}, Listener()))
        await asyncio.sleep(0)
        # The next kernel is up, and gone again before the request has its turn.
        self.host._ready.set()
        self.host._ready.clear()
        for _ in range(5):
            await asyncio.sleep(0)
        self.assertIsNone(self.host._reply)
        asking.cancel()

    async def test_ignores_replies_of_a_kernel_that_is_being_killed(self) -> None:
        await self.host.start()
        asking = asyncio.create_task(self.host.request({"op": "execute"}, Listener()))
        await asyncio.sleep(0)
        # Only root may kill the worker's processes; here the kernel lives on, and may say what it was about to say.
        with self.assertRaises(PermissionError):
            self.host.kill()
        self.zygote.say(self.zygote.kernels[0], {"op": "reply", "id": self.host._request_id, "status": "ok"})
        self.host.link.drain_all()
        for _ in range(5):
            await asyncio.sleep(0)
        self.assertFalse(asking.done())
        self.assertEqual(self.host.state, "starting")
        asking.cancel()


if __name__ == "__main__":
    unittest.main()
