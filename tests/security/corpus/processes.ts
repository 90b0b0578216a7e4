import { family } from '../../../scripts/hostile-programs/program.ts'

const py = String.raw

/** Attacks on other processes: the supervisor, its helper and the zygote. */
export const processes = family('processes', [
  ['memory of the parent', '/proc/pid/mem', py`print(err(lambda: open(f"/proc/{os.getppid()}/mem", "rb")))`, 'EACCES'],
  ['memory of process 1', '/proc/pid/mem', py`print(err(lambda: open("/proc/1/mem", "r+b")))`, 'EACCES'],
  ['maps of process 1', '/proc/pid/maps', py`print(err(lambda: open("/proc/1/maps").read()))`, 'EACCES'],
  ['descriptors of process 1', '/proc/pid/fd', py`print(err(os.listdir, "/proc/1/fd"))`, 'EACCES'],
  ['descriptors of the parent', '/proc/pid/fd', py`print(err(lambda: os.readlink(f"/proc/{os.getppid()}/fd/3")))`, 'EACCES'],
  ['folder of process 1', '/proc/pid/cwd', py`print(err(os.listdir, "/proc/1/cwd"), err(os.listdir, "/proc/1/root"))`, 'EACCES EACCES'],
  ['stack of process 1', '/proc/pid/stack', py`print(err(lambda: open("/proc/1/stack").read()))`, 'EACCES'],
  ['system call of process 1', '/proc/pid/syscall', py`print(err(lambda: open("/proc/1/syscall").read()))`, 'EACCES'],
  [
    'priority of the kernel for memory',
    '/proc/pid/oom_score_adj',
    py`print(err(lambda: open("/proc/1/oom_score_adj", "wb", 0).write(b"1000")), err(lambda: open("/proc/self/oom_score_adj", "wb", 0).write(b"-1000")))`,
    /^E\w+ E\w+\n$/,
  ],
  ['kill process 1', 'kill(2) of another user', py`print(err(os.kill, 1, 9))`, 'EPERM'],
  ['kill the parent', 'kill(2) of another user', py`print(err(os.kill, os.getppid(), 9))`, 'EPERM'],
  ['stop the parent', 'kill(2) of another user', py`print(err(os.kill, os.getppid(), signal.SIGSTOP))`, 'EPERM'],
  [
    'stop every other process',
    'kill(2) of another user',
    py`
mine = {os.getpid()}
for p in filter(str.isdigit, os.listdir("/proc")):
    if int(p) not in mine and f"/proc/{p}" and os.stat(f"/proc/{p}").st_uid != os.getuid(): print(err(os.kill, int(p), signal.SIGSTOP), end=" ")`,
    /^(EPERM )+$/,
  ],
  ['tgkill', 'tgkill(2)', py`print(sc(234, 1, 1, 9))`, 'EPERM'],
  ['queue a signal', 'rt_sigqueueinfo(2)', py`print(sc(129, 1, 10, ctypes.create_string_buffer(128)))`, 'EPERM'],
  ['signal by pidfd', 'pidfd_send_signal(2)', py`print(err(signal.pidfd_send_signal, os.pidfd_open(1), 9))`, 'EPERM'],
  [
    'limits of process 1',
    'prlimit(2)',
    py`import resource; print(err(resource.prlimit, 1, resource.RLIMIT_NOFILE, (0, 0)))`,
    /^(EPERM|PermissionError)\n$/,
  ],
  [
    'schedule of process 1',
    'sched_setaffinity(2)',
    py`print(err(os.sched_setaffinity, 1, {0}), err(os.setpriority, os.PRIO_PROCESS, 1, 19))`,
    /^EPERM (EPERM|EACCES)\n$/,
  ],
  ['join the group of process 1', 'setpgid(2)', py`print(err(os.setpgid, 0, 1), err(os.setpgid, 1, 1))`, /^E\w+ (EPERM|ESRCH)\n$/],
  ['controlling terminal', '/dev/tty', py`print(err(lambda: os.open("/dev/tty", os.O_RDWR)))`, 'ENXIO'],
  [
    'inject keys',
    'TIOCSTI',
    py`
import fcntl
print(err(fcntl.ioctl, 0, 0x5412, b"x"))`,
    /^(ENOTTY|EPERM|EIO)\n$/,
  ],
  [
    'processes of the host',
    'list of /proc',
    py`print(max(int(p) for p in os.listdir("/proc") if p.isdigit()) < 100_000, any("dockerd" in open(f"/proc/{p}/comm").read() for p in os.listdir("/proc") if p.isdigit() and os.path.exists(f"/proc/{p}/comm")))`,
    'True False',
  ],
  [
    'own memory',
    '/proc/self/mem',
    py`
b = ctypes.create_string_buffer(b"inside"); f = open("/proc/self/mem", "rb", 0); f.seek(ctypes.addressof(b)); print(f.read(6).decode())`,
    'inside',
  ],
  ['own priority for memory', '/proc/pid/oom_score_adj', py`print(open("/proc/self/oom_score_adj").read().strip())`, '1000'],
  ['own niceness', 'getpriority(2)', py`print(os.nice(0))`, '5'],
  [
    'tracer of itself',
    '/proc/self/status',
    py`print([l.split()[1] for l in open("/proc/self/status") if l.startswith("TracerPid")][0])`,
    '0',
  ],
])

/** Privilege escalation. */
export const privilege = family('privilege', [
  ['setuid', 'setuid(2)', py`print(err(os.setuid, 0))`, 'EPERM'],
  ['setresuid keeping one', 'setresuid(2)', py`print(err(os.setresuid, -1, 0, -1))`, 'EPERM'],
  ['setgid', 'setgid(2)', py`print(err(os.setgid, 0))`, 'EPERM'],
  ['setgroups', 'setgroups(2)', py`print(err(os.setgroups, [0]))`, 'EPERM'],
  ['setfsuid', 'setfsuid(2)', py`libc.setfsuid(0); print(libc.setfsuid(-1))`, /^(10001|[2-5]\d{4})\n$/],
  ['the helper as another user', 'setuid(2)', py`print(err(os.setuid, 10002))`, 'EPERM'],
  [
    'capset',
    'capset(2)',
    py`print(sc(126, struct.pack("Ii", 0x20080522, 0), struct.pack("6I", 0xffffffff, 0xffffffff, 0, 0, 0, 0)))`,
    'EPERM',
  ],
  ['ambient capability', 'PR_CAP_AMBIENT', py`print(libc.prctl(47, 2, 21, 0, 0), name(ctypes.get_errno()))`, '-1 EPERM'],
  ['bounding set', 'PR_CAPBSET_DROP', py`print(libc.prctl(24, 21, 0, 0, 0), name(ctypes.get_errno()))`, '-1 EPERM'],
  [
    'keep capabilities',
    'PR_SET_KEEPCAPS',
    py`libc.prctl(8, 1, 0, 0, 0); print([l.split()[1] for l in open("/proc/self/status") if l.startswith("CapPrm")][0])`,
    '0000000000000000',
  ],
  ['no_new_privs off', 'PR_SET_NO_NEW_PRIVS', py`print(libc.prctl(38, 0, 0, 0, 0), libc.prctl(39, 0, 0, 0, 0))`, '-1 1'],
  ['seccomp off', 'PR_SET_SECCOMP', py`print(libc.prctl(22, 0, 0, 0, 0), name(ctypes.get_errno()))`, '-1 EINVAL'],
  [
    'seccomp filter that allows',
    'seccomp(2) with a filter',
    py`
p = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000)); h = struct.pack("HxxxxxxP", 1, ctypes.addressof(p))
pid = os.fork()
if pid == 0:
    sc(317, 1, 0, h); os._exit(0 if err(tcp, T.gateway, T.port) == "ok" else 7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`,
    '7',
    { aims: ['tcp'] },
  ],
  [
    'seccomp notifier',
    'seccomp(2) with a listener',
    py`
pid = os.fork()
if pid == 0:
    p = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fc00000)); r = sc(317, 1, 8, struct.pack("HxxxxxxP", 1, ctypes.addressof(p)))
    os._exit(5)
time.sleep(0.1); print(err(os.kill, pid, 9), err(tcp, T.gateway, T.port))`,
    'ok ENETUNREACH',
    { aims: ['tcp'] },
  ],
  [
    'setuid copy of a shell',
    'setuid bit',
    py`
import shutil
shutil.copy("/bin/bash", "/tmp/rootbash"); os.chmod("/tmp/rootbash", 0o6755); print(sh("/tmp/rootbash", "-p", "-c", "id -u"))`,
    /^(10001|[2-5]\d{4})\n$/,
  ],
  ['setuid programs', 'setuid programs of the image', py`print(sh("find / -xdev -perm /6000 -type f 2>/dev/null | head"))`, ''],
  [
    'file capabilities',
    'security.capability',
    py`print(err(os.setxattr, "/mnt/data", "security.capability", b"\1\0\0\2" + bytes(16)))`,
    /^(EPERM|EINVAL|ENOTSUP|EOPNOTSUPP)\n$/,
  ],
  [
    'su and sudo',
    'su, sudo and the like',
    py`print(["uid=0" in sh(f"{p} id < /dev/null; true") for p in ("su root -c", "sudo", "pkexec", "newgrp root -c")])`,
    '[False, False, False, False]',
  ],
  ['groups by name', 'getgroups(2)', py`print(os.getgroups(), os.getgid())`, /^\[\] (10001|[2-5]\d{4})\n$/],
  ['dumpable after exec', 'PR_SET_DUMPABLE', py`print(err(lambda: open("/proc/1/environ").read()), libc.prctl(3, 0, 0, 0, 0))`, 'EACCES 1'],
  [
    'raise limits',
    'setrlimit(2)',
    py`
import resource
print(err(resource.setrlimit, resource.RLIMIT_NOFILE, (1 << 20, 1 << 20)), err(resource.setrlimit, resource.RLIMIT_CORE, (1, 1)))`,
    /^(ValueError|EPERM) (ValueError|EPERM)\n$/,
  ],
  [
    'better priority',
    'sched_setscheduler(2)',
    py`print(err(os.nice, -5), err(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(50)))`,
    'EPERM EPERM',
  ],
  ['change owner', 'chown(2)', py`open("/tmp/o", "w").close(); print(err(os.chown, "/tmp/o", 0, 0))`, 'EPERM'],
])
