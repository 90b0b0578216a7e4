"""The filter, run by a small BPF interpreter, for both architectures."""

import errno
import unittest

from cellblock_supervisor.worker.isolation import seccomp, syscall_table as table

ALLOWED = "allowed"
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
I386 = 0x40000003


def answer(machine: str, number: int, first: int = 0, arch: int | None = None, second: int = 0, third: int = 0) -> str | int:
    """The kernel's decision: `allowed`, or the errno."""
    lines = seccomp.program(machine)
    data = {0: number, 4: ARCH[machine] if arch is None else arch, 16: first & 0xFFFF_FFFF, 24: second, 32: third}
    at, accumulator = 0, 0
    while True:
        code, if_true, if_false, constant = lines[at]
        at += 1
        if code == 0x20:
            accumulator = data[constant]
        elif code == 0x06:
            return ALLOWED if constant == 0x7FFF_0000 else constant & 0xFFFF
        else:
            test = {0x15: accumulator == constant, 0x35: accumulator >= constant, 0x45: bool(accumulator & constant)}[code]
            at += if_true if test else if_false


class Filter(unittest.TestCase):
    def test_refuses_the_calls_of_the_tables_with_their_errno(self) -> None:
        for machine in ARCH:
            for calls, wanted in ((table.ABSENT, errno.ENOSYS), (table.REFUSED, errno.EPERM)):
                for name, of in calls.items():
                    number = getattr(of, machine)
                    if number is not None:
                        self.assertEqual(answer(machine, number), wanted, f"{name} on {machine}")

    def test_allows_only_unix_sockets(self) -> None:
        for machine in ARCH:
            for of in (table.SOCKET, table.SOCKETPAIR):
                for family in range(64):
                    wanted = ALLOWED if family == 1 else errno.ENETUNREACH
                    self.assertEqual(answer(machine, getattr(of, machine), family), wanted)
                    self.assertEqual(answer(machine, getattr(of, machine), family | 1 << 40), wanted)

    def test_allows_clone_without_namespaces_only(self) -> None:
        for machine in ARCH:
            number = getattr(table.CLONE, machine)
            self.assertEqual(answer(machine, number, 0x003D_0F00), ALLOWED)
            for flag in (0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000):
                self.assertEqual(answer(machine, number, flag | 17), errno.EPERM)

    def test_refuses_filters_of_processes_and_sockets(self) -> None:
        for machine in ARCH:
            prctl, setsockopt = getattr(table.PRCTL, machine), getattr(table.SETSOCKOPT, machine)
            self.assertEqual(answer(machine, prctl, 22), errno.EINVAL)
            for option in (1, 4, 15, 38):
                self.assertEqual(answer(machine, prctl, option), ALLOWED)
            for option in (26, 50, 51):
                self.assertEqual(answer(machine, setsockopt, 3, second=1, third=option), errno.EPERM)
                self.assertEqual(answer(machine, setsockopt, 3, second=41, third=option), ALLOWED)
            for option in (1, 2, 7, 8, 16, 27):
                self.assertEqual(answer(machine, setsockopt, 3, second=1, third=option), ALLOWED)

    def test_refuses_other_architectures(self) -> None:
        for machine in ARCH:
            self.assertEqual(answer(machine, 1, arch=I386), errno.ENOSYS)
        for number in (0, 41, 59):
            self.assertEqual(answer("x86_64", 0x4000_0000 + number), errno.ENOSYS)

    def test_allows_ordinary_calls(self) -> None:
        for number in (0, 1, 2, 3, 9, 39, 42, 57, 59, 60, 202, 231, 257, 262, 332):
            self.assertEqual(answer("x86_64", number), ALLOWED)

    def test_has_no_jump_outside_the_program(self) -> None:
        for machine in ARCH:
            lines = seccomp.program(machine)
            self.assertLess(len(lines), 4096)
            for at, (code, if_true, if_false, _) in enumerate(lines):
                if code not in (0x20, 0x06):
                    self.assertLess(at + 1 + max(if_true, if_false), len(lines))


if __name__ == "__main__":
    unittest.main()
