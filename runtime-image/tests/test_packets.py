"""Messages travel in packets and arrive complete, or are counted."""

import unittest

from cellblock_supervisor import packets


class Packets(unittest.TestCase):
    def test_joins_interleaved_fragments_of_several_senders(self) -> None:
        first, second = b"a" * 200_000, b"b" * 150_000
        assembler = packets.Assembler(1 << 20)
        whole = []
        for pair in zip(packets.fragments(1, first), packets.fragments(2, second) + [b"J"], strict=True):
            whole += [body for packet in pair if (body := assembler.add(packet)) is not None]
        self.assertCountEqual(whole, [first, second])

    def test_bounds_the_memory_and_reports_the_size(self) -> None:
        assembler = packets.Assembler(100_000)
        for packet in packets.fragments(1, b"x" * 1_000_000):
            self.assertIsNone(assembler.add(packet))
        self.assertEqual(assembler.take_dropped(), [1_000_000])
        self.assertEqual(assembler.add(packets.fragments(2, b"ok")[0]), b"ok")


if __name__ == "__main__":
    unittest.main()
