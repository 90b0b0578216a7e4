import { family } from './program.ts'

const py = String.raw
const NO = 'EPERM'
const ABSENT = 'ENOSYS'
/** Engines answer calls that are newer than they are with ENOSYS, so that libraries fall back. */
const NEWER = /^(EPERM|ENOSYS)\n$/

/** Calls into parts of the kernel that user code has no business with (numbers of x86-64). */
export const systemCalls = family('system-calls', [
  ['ptrace attach', py`print(sc(101, 16, 1, 0, 0))`, NO],
  ['ptrace traceme', py`print(sc(101, 0, 0, 0, 0))`, NO],
  [
    'process_vm_readv',
    py`
b = ctypes.create_string_buffer(64); v = struct.pack("QQ", ctypes.addressof(b), 64)
print(sc(310, os.getppid(), v, 1, v, 1, 0))`,
    NO,
  ],
  ['process_vm_writev', py`print(sc(311, 1, 0, 0, 0, 0, 0))`, NO],
  ['bpf program', py`print(sc(321, 5, ctypes.create_string_buffer(128), 128))`, NO],
  ['bpf map', py`print(sc(321, 0, ctypes.create_string_buffer(struct.pack("IIIII", 1, 4, 4, 1, 0) + bytes(100)), 120))`, NO],
  ['perf_event_open', py`print(sc(298, ctypes.create_string_buffer(128), 0, -1, -1, 0))`, NO],
  ['userfaultfd', py`print(sc(323, 1))`, NO],
  ['keyctl session', py`print(sc(250, 1, 0))`, NO],
  ['add_key', py`print(sc(248, b"user\0", b"k\0", b"v", 1, -3))`, NO],
  ['request_key', py`print(sc(249, b"user\0", b"k\0", 0, -3))`, NO],
  ['kcmp', py`print(sc(312, 1, os.getpid(), 0, 0, 0))`, NO],
  ['pidfd_getfd', py`fd = os.pidfd_open(os.getppid()); print(sc(438, fd, 0, 0))`, NO],
  ['process_madvise', py`print(sc(440, os.pidfd_open(os.getppid()), 0, 0, 0, 0))`, NO],
  ['io_uring_enter', py`print(sc(426, 3, 1, 1, 1, 0, 0))`, ABSENT],
  ['io_uring_register', py`print(sc(427, 3, 0, 0, 0))`, ABSENT],
  ['clone3', py`print(sc(435, ctypes.create_string_buffer(88), 88))`, ABSENT],
  ['kexec_load', py`print(sc(246, 0, 0, 0, 0))`, NO],
  ['kexec_file_load', py`print(sc(320, 0, 0, 0, 0, 0))`, NO],
  ['init_module', py`print(sc(175, b"x", 1, b"\0"))`, NO],
  ['finit_module', py`print(sc(313, 0, b"\0", 0))`, NO],
  ['delete_module', py`print(sc(176, b"overlay\0", 0))`, NO],
  ['reboot', py`print(sc(169, 0xfee1dead, 672274793, 0, 0))`, NO],
  ['swapon', py`print(sc(167, b"/tmp/x\0", 0))`, NO],
  ['syslog read', py`print(sc(103, 3, ctypes.create_string_buffer(4096), 4096))`, NO],
  ['sethostname', py`print(sc(170, b"evil", 4))`, NO],
  ['iopl', py`print(sc(172, 3))`, NO],
  ['ioperm', py`print(sc(173, 0x80, 1, 1))`, NO],
  ['modify_ldt', py`print(sc(154, 1, ctypes.create_string_buffer(16), 16))`, NO],
  ['acct', py`print(sc(163, b"/tmp/acct\0"))`, NO],
  ['quotactl', py`print(sc(179, 0x800002, 0, 0, 0))`, NO],
  ['settimeofday', py`print(err(time.clock_settime, time.CLOCK_REALTIME, 1))`, NO, { mechanism: 'clock_settime' }],
  ['adjtimex', py`print(sc(159, ctypes.create_string_buffer(256)))`, NO],
  ['fanotify_init', py`print(sc(300, 0, 0))`, NO],
  ['name_to_handle_at', py`print(sc(303, -100, b"/\0", ctypes.create_string_buffer(200), ctypes.create_string_buffer(8), 0))`, NO],
  ['open_by_handle_at', py`print(sc(304, -100, ctypes.create_string_buffer(struct.pack("II", 8, 1) + struct.pack("II", 2, 0)), 0))`, NO],
  ['move_pages', py`print(sc(279, 1, 0, 0, 0, 0, 0))`, NO],
  ['mbind', py`print(sc(237, 0, 0, 0, 0, 0, 0))`, NO],
  ['lookup_dcookie', py`print(sc(212, 0, 0, 0))`, NO],
  ['vhangup', py`print(sc(153))`, NO],
  ['personality read-implies-exec', py`print(sc(135, 0x0400000))`, NO],
  ['vmsplice', py`r, w = os.pipe(); print(sc(278, w, 0, 0, 0))`, NO],
  ['mseal', py`print(sc(462, 0, 0, 0))`, NEWER],
  ['x32 socket', py`print(sc(0x40000000 + 41, 2, 1, 0))`, ABSENT],
  ['x32 execve', py`print(sc(0x40000000 + 520, b"/bin/sh\0", 0, 0))`, ABSENT],
  ['unknown number', py`print(sc(9999, 0))`, NEWER],
  ['legacy sysctl', py`print(sc(156, 0))`, NO],
])

/** Other views of the machine: namespaces, mounts, roots. */
export const namespaces = family('namespaces', [
  ['unshare user', py`print(sc(272, 0x10000000))`, NO],
  ['unshare network', py`print(sc(272, 0x40000000))`, NO],
  ['unshare mount', py`print(sc(272, 0x20000))`, NO],
  ['clone user', py`print(sc(56, 0x10000000 | 17, 0, 0, 0, 0))`, NO],
  ['clone pid', py`print(sc(56, 0x20000000 | 17, 0, 0, 0, 0))`, NO],
  ['clone time', py`print(sc(272, 0x80))`, NO],
  [
    'setns of init',
    py`
print(err(lambda: sc(308, os.open("/proc/1/ns/net", os.O_RDONLY), 0)))`,
    'EACCES',
  ],
  ['setns by pidfd', py`print(sc(308, os.pidfd_open(1), 0x40000000))`, NO],
  ['mount tmpfs', py`print(sc(165, b"none\0", b"/mnt/data\0", b"tmpfs\0", 0, 0))`, NO],
  ['mount proc', py`os.makedirs("/tmp/p", exist_ok=True); print(sc(165, b"proc\0", b"/tmp/p\0", b"proc\0", 0, 0))`, NO],
  ['remount writable', py`print(sc(165, b"none\0", b"/\0", 0, 32, 0))`, NO],
  ['bind mount', py`print(sc(165, b"/proc\0", b"/tmp\0", 0, 4096, 0))`, NO],
  ['umount masks', py`print(sc(166, b"/proc/kcore\0", 2))`, NO],
  ['pivot_root', py`print(sc(155, b"/mnt/data\0", b"/mnt/data\0"))`, NO],
  ['chroot', py`print(err(os.chroot, "/mnt/data"))`, NO],
  [
    'chroot and fchdir out',
    py`d = os.open("/", os.O_RDONLY); print(err(os.chroot, "/tmp")); os.fchdir(d); os.chdir("/mnt/data"); os.close(d)`,
    NO,
    { mechanism: 'chroot' },
  ],
  ['fsopen', py`print(sc(430, b"tmpfs\0", 0))`, NO],
  ['open_tree', py`print(sc(428, -100, b"/\0", 1))`, NO],
  ['move_mount', py`print(sc(429, -100, b"/\0", -100, b"/tmp\0", 0))`, NO],
  ['mount_setattr', py`print(sc(442, -100, b"/\0", 0, ctypes.create_string_buffer(32), 32))`, NO],
  ['statmount', py`print(sc(457, ctypes.create_string_buffer(32), 0, 0, 0))`, NO],
  ['listmount', py`print(sc(458, 0, 0, 0, 0))`, NO],
  ['uid map', py`print(err(lambda: open("/proc/self/uid_map", "wb", 0).write(b"0 0 1")))`, /^(EPERM|EACCES|EROFS)\n$/],
  [
    'cgroup release agent',
    py`print(err(lambda: open("/sys/fs/cgroup/release_agent", "w")), err(os.mkdir, "/sys/fs/cgroup/x"))`,
    /^E\w+ E\w+\n$/,
  ],
  ['core pattern', py`print(err(lambda: open("/proc/sys/kernel/core_pattern", "w")))`, /^(EROFS|EACCES)\n$/],
])
