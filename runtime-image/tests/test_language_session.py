"""A session that ends between two cells: the second cell did not run, and must not count as a success."""

import unittest

from cellblock_supervisor.worker.languages.language_session import _Session


class EndedSessionTest(unittest.TestCase):
    def _session(self, program: str) -> _Session:
        session = _Session(["sh", "-c", program])
        self.addCleanup(session.end)
        return session

    def test_a_cell_that_no_program_read_is_known(self) -> None:
        session = self._session("sleep 0.1")
        with self.assertRaises(EOFError):
            session.ask(b"cell\0")
        self.assertTrue(session.has_unread_cell)

    def test_a_cell_that_ended_the_program_was_read(self) -> None:
        session = self._session("head -c 5 <&3 >/dev/null")
        with self.assertRaises(EOFError):
            session.ask(b"cell\0")
        self.assertFalse(session.has_unread_cell)


if __name__ == "__main__":
    unittest.main()
