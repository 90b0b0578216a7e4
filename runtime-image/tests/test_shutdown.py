"""The end of a sandbox after SIGTERM, with and without unsaved state."""

import asyncio
import unittest

from cellblock_supervisor import shutdown
from cellblock_supervisor.shutdown import Shutdown

PUT = ("PUT", ["executions", "exec_1"])


class Ending(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        for name, seconds in (("_CHECK_SECONDS", 0.01), ("_QUIET_SECONDS", 0.1), ("_SAVER_SECONDS", 0.4)):
            self.addCleanup(setattr, shutdown, name, getattr(shutdown, name))
            setattr(shutdown, name, seconds)
        self.loop = asyncio.get_running_loop()
        self.ended = self.loop.create_future()
        self.is_busy = False

    def _shutdown(self, max_seconds: int = 60) -> Shutdown:
        return Shutdown(max_seconds, lambda: self.is_busy, lambda: None if self.ended.done() else self.ended.set_result(None))

    async def _seconds(self) -> float:
        began = self.loop.time()
        await asyncio.wait_for(self.ended, 20)
        return self.loop.time() - began

    async def test_ends_at_once_without_state(self) -> None:
        ending = self._shutdown()
        ending.note_request("GET", ["health"])
        ending.on_signal()
        self.assertTrue(self.ended.done())

    async def test_ends_at_once_where_only_we_stop_it(self) -> None:
        ending = self._shutdown(max_seconds=0)
        self.is_busy = True
        ending.note_request(*PUT)
        ending.on_signal()
        self.assertTrue(self.ended.done())

    async def test_waits_for_a_client_that_saves_the_state(self) -> None:
        ending = self._shutdown()
        ending.note_request(*PUT)
        ending.on_signal()
        self.assertFalse(self.ended.done())
        self.assertGreaterEqual(await self._seconds(), 0.39)

    async def test_ends_soon_after_the_state_was_saved(self) -> None:
        shutdown._SAVER_SECONDS = 600
        ending = self._shutdown()
        ending.note_request(*PUT)
        ending.on_signal()
        ending.note_request("POST", ["snapshot"])
        ending.note_saved()
        ending.note_request("GET", ["files", "a"])
        self.assertGreaterEqual(await self._seconds(), 0.09)

    async def test_does_not_end_under_a_client_that_has_just_saved(self) -> None:
        ending = self._shutdown()
        ending.note_request(*PUT)
        ending.note_saved()
        ending.on_signal()
        self.assertFalse(self.ended.done())
        await self._seconds()

    async def test_waits_for_running_code_and_not_longer_than_the_maximum(self) -> None:
        self.is_busy = True
        ending = self._shutdown(max_seconds=1)
        ending.note_request(*PUT)
        ending.on_signal()
        self.assertGreaterEqual(await self._seconds(), 0.99)

    async def test_state_after_a_snapshot_is_not_saved(self) -> None:
        ending = self._shutdown()
        ending.note_saved()
        ending.note_request("POST", ["executions", "exec_1", "interrupt"])
        ending.on_signal()
        self.assertGreaterEqual(await self._seconds(), 0.39)

    async def test_ends_at_a_second_signal(self) -> None:
        ending = self._shutdown()
        ending.note_request(*PUT)
        ending.on_signal()
        ending.on_signal()
        self.assertTrue(self.ended.done())


if __name__ == "__main__":
    unittest.main()
