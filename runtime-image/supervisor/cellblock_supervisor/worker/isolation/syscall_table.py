"""System calls that the worker may not make, with their numbers on x86-64 and 64-bit ARM (None: does not exist there)."""

from typing import NamedTuple


class Numbers(NamedTuple):
    x86_64: int | None
    aarch64: int | None


# Calls that return ENOSYS, so that programs fall back to an older call.
ABSENT: dict[str, Numbers] = {
    "clone3": Numbers(435, 435),
    "io_uring_setup": Numbers(425, 425),
    "io_uring_enter": Numbers(426, 426),
    "io_uring_register": Numbers(427, 427),
    # Both use up limits of the whole host: asynchronous requests, and memory for compiled filters.
    "io_setup": Numbers(206, 0),
    "seccomp": Numbers(317, 277),
}

# Refused with EPERM: access to other processes' memory, kernel internals, mounts, modules, keys and clocks.
REFUSED: dict[str, Numbers] = {
    "ptrace": Numbers(101, 117),
    "process_vm_readv": Numbers(310, 270),
    "process_vm_writev": Numbers(311, 271),
    "kcmp": Numbers(312, 272),
    "pidfd_getfd": Numbers(438, 438),
    "process_madvise": Numbers(440, 440),
    "bpf": Numbers(321, 280),
    "perf_event_open": Numbers(298, 241),
    "userfaultfd": Numbers(323, 282),
    "add_key": Numbers(248, 217),
    "request_key": Numbers(249, 218),
    "keyctl": Numbers(250, 219),
    "unshare": Numbers(272, 97),
    "setns": Numbers(308, 268),
    "mount": Numbers(165, 40),
    "umount2": Numbers(166, 39),
    "pivot_root": Numbers(155, 41),
    "chroot": Numbers(161, 51),
    "open_tree": Numbers(428, 428),
    "move_mount": Numbers(429, 429),
    "fsopen": Numbers(430, 430),
    "fsconfig": Numbers(431, 431),
    "fsmount": Numbers(432, 432),
    "fspick": Numbers(433, 433),
    "mount_setattr": Numbers(442, 442),
    "statmount": Numbers(457, 457),
    "listmount": Numbers(458, 458),
    "open_tree_attr": Numbers(467, 467),
    "name_to_handle_at": Numbers(303, 264),
    "open_by_handle_at": Numbers(304, 265),
    "kexec_load": Numbers(246, 104),
    "kexec_file_load": Numbers(320, 294),
    "init_module": Numbers(175, 105),
    "finit_module": Numbers(313, 273),
    "delete_module": Numbers(176, 106),
    "reboot": Numbers(169, 142),
    "swapon": Numbers(167, 224),
    "swapoff": Numbers(168, 225),
    "sethostname": Numbers(170, 161),
    "setdomainname": Numbers(171, 162),
    "iopl": Numbers(172, None),
    "ioperm": Numbers(173, None),
    "modify_ldt": Numbers(154, None),
    "uselib": Numbers(134, None),
    "acct": Numbers(163, 89),
    "quotactl": Numbers(179, 60),
    "quotactl_fd": Numbers(443, 443),
    "lookup_dcookie": Numbers(212, 18),
    "syslog": Numbers(103, 116),
    "settimeofday": Numbers(164, 170),
    "clock_settime": Numbers(227, 112),
    "clock_adjtime": Numbers(305, 266),
    "adjtimex": Numbers(159, 171),
    "vhangup": Numbers(153, 58),
    "fanotify_init": Numbers(300, 262),
    "fanotify_mark": Numbers(301, 263),
    "move_pages": Numbers(279, 239),
    "migrate_pages": Numbers(256, 238),
    "mbind": Numbers(237, 235),
    "set_mempolicy": Numbers(238, 237),
}

SOCKET = Numbers(41, 198)
SOCKETPAIR = Numbers(53, 199)
CLONE = Numbers(56, 220)
PRCTL = Numbers(157, 167)
SETSOCKOPT = Numbers(54, 208)
