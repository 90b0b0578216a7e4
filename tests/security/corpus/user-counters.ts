import { DIES, family } from '../../../scripts/hostile-programs/program.ts'

const py = String.raw

/** Children that hold what they opened until they are killed, so that limits per process do not hide limits per user. */
const HOLDERS = py`
def holders(count, work):
    "Forks processes that run work, keep its result and sleep. Returns their ids and whether any of them hit a limit."
    pids, (r, w) = [], os.pipe()
    for _ in range(count):
        try: pid = os.fork()
        except OSError: break
        if pid == 0:
            kept = []
            try:
                while len(kept) < 900: kept.append(work())
                os.write(w, b"0")
            except OSError as e: os.write(w, b"1")
            signal.pause()
        pids.append(pid)
    return pids, b"".join(os.read(r, 1) for _ in pids)
def end(pids):
    for p in pids: os.kill(p, 9)
    for p in pids: os.waitpid(p, 0)
`

/** Use of what the kernel counts per user of the host. Each sandbox has its own user id, so it exhausts only itself. */
export const userCounters = family('user-counters', [
  [
    'inotify instances until the limit',
    'inotify_init1(2)',
    py`${HOLDERS}
def instance():
    fd = libc.inotify_init1(0)
    if fd < 0: raise OSError(ctypes.get_errno(), "")
    return fd
pids, said = holders(3, instance); end(pids); print(b"1" in said)`,
    'True',
  ],
  [
    'inotify watches',
    'inotify_add_watch(2)',
    py`
fd, n = libc.inotify_init1(0), 0
os.makedirs("/tmp/watched", exist_ok=True)
for i in range(3000):
    path = f"/tmp/watched/{i}"; open(path, "w").close(); n += libc.inotify_add_watch(fd, path.encode(), 0xfff) >= 0
os.close(fd); __import__("shutil").rmtree("/tmp/watched"); print(n)`,
    '3000',
  ],
  [
    'notifications of image files',
    'inotify events of shared inodes',
    py`
# Files of the image are one inode for all sandboxes of a host: only accesses of this sandbox may show.
fd = libc.inotify_init1(0o4000)
for path in (b"/usr/bin/env", b"/usr/bin/python3", b"/etc/ld.so.cache", b"/usr/lib"): libc.inotify_add_watch(fd, path, 0xfff)
time.sleep(1.0); print(err(os.read, fd, 4096)); os.close(fd)`,
    'EAGAIN',
  ],
  [
    'directory notification',
    'F_NOTIFY',
    py`
import fcntl
signal.signal(signal.SIGIO, signal.SIG_IGN)
fd = os.open("/usr/bin", os.O_RDONLY); print(err(fcntl.fcntl, fd, fcntl.F_NOTIFY, fcntl.DN_ACCESS)); os.close(fd)`,
    /^(ok|EINVAL)\n$/,
  ],
  [
    'epoll watches in many processes',
    'epoll_ctl(2)',
    py`${HOLDERS}
import select
r, w = os.pipe(); fds = [os.dup(r) for _ in range(400)]
def watched():
    e = select.epoll()
    for fd in fds[:300]: e.register(fd, select.EPOLLIN)
    return e
def small():
    try: return watched()
    except OSError as e:
        if e.errno == errno.ENOSPC: raise
        time.sleep(3600)
pids = []
for _ in range(26):
    pid = os.fork()
    if pid == 0:
        kept = []
        try:
            while True: kept.append(watched())
        except OSError: pass
        signal.pause()
    pids.append(pid)
time.sleep(1.5); print(len(pids))
for p in pids: os.kill(p, 9); os.waitpid(p, 0)`,
    '26',
  ],
  [
    'nested event polls',
    'epoll instances in epoll instances',
    py`
import select
polls = [select.epoll() for _ in range(12)]; said = []
for outer, inner in zip(polls, polls[1:]): said.append(err(outer.register, inner.fileno(), select.EPOLLIN))
said.append(err(polls[-1].register, polls[0].fileno(), select.EPOLLIN))
for p in polls: p.close()
print(sorted(set(said)))`,
    /(EINVAL|ELOOP)/,
  ],
  [
    'queued signals to itself',
    'pthread_sigqueue(3)',
    py`
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN}); n, thread = 0, ctypes.c_ulong(threading.get_ident())
while n < 400_000 and (full := libc.pthread_sigqueue(thread, int(signal.SIGRTMIN), None)) == 0: n += 1
print(name(full))
while signal.sigtimedwait({signal.SIGRTMIN}, 0): pass`,
    'EAGAIN',
  ],
  [
    'timers as descriptors',
    'timerfd_create(2)',
    py`${HOLDERS}
def timer():
    fd = libc.timerfd_create(1, 0)
    if fd < 0: raise OSError(ctypes.get_errno(), "")
    return fd
pids, said = holders(4, timer); end(pids); print(len(said))`,
    '4',
  ],
  ['timers that wake the machine', 'CLOCK_BOOTTIME_ALARM', py`print(libc.timerfd_create(9, 0), name(ctypes.get_errno()))`, '-1 EPERM'],
  [
    'bytes of message queues',
    'RLIMIT_MSGQUEUE',
    py`import resource; print(resource.getrlimit(resource.RLIMIT_MSGQUEUE), err(resource.setrlimit, resource.RLIMIT_MSGQUEUE, (1 << 20, 1 << 20)))`,
    /^\(0, 0\) (ValueError|EPERM)\n$/,
  ],
  [
    'semaphores that outlive the kernel',
    'semget(2)',
    py`
made = 0
while made < 2000 and libc.semget(0, 250, 0o1600) >= 0: made += 1
os.write(1, f"{made > 0}\n".encode()); time.sleep(0.2); os._exit(0)`,
    { ...DIES, stdout: 'True\n' },
    { after: { code: py`print(len(open("/proc/sysvipc/sem").read().splitlines()))`, stdout: '1' } },
  ],
  [
    'undo lists of semaphores',
    'semop(2) with SEM_UNDO',
    py`
s = libc.semget(0, 1, 0o1600); op = ctypes.create_string_buffer(struct.pack("HhH", 0, 1, 0x1000)); pids = []
for _ in range(50):
    pid = os.fork()
    if pid == 0:
        libc.semop(s, op, 1); os._exit(0)
    pids.append(pid)
for p in pids: os.waitpid(p, 0)
print(libc.semctl(s, 0, 12)); libc.semctl(s, 0, 0)`,
    '0',
  ],
  [
    'shared memory that outlives the kernel',
    'shmat(2) without a process',
    py`
libc.shmat.restype = ctypes.c_void_p
for i in range(4):
    at = libc.shmat(libc.shmget(0, 8 << 20, 0o1600), None, 0); ctypes.memset(at, 1, 8 << 20)
os.write(1, b"filled\n"); time.sleep(0.2); os._exit(0)`,
    { ...DIES, stdout: 'filled\n' },
    { after: { code: py`print(len(open("/proc/sysvipc/shm").read().splitlines()))`, stdout: '1' } },
  ],
  [
    'messages that outlive the kernel',
    'msgsnd(2)',
    py`
for _ in range(200):
    q = libc.msgget(0, 0o1600)
    for _ in range(4): libc.msgsnd(q, ctypes.create_string_buffer(struct.pack("l", 1) + bytes(4096)), 4096, 0o4000)
os.write(1, b"sent\n"); time.sleep(0.2); os._exit(0)`,
    { ...DIES, stdout: 'sent\n' },
    { after: { code: py`print(len(open("/proc/sysvipc/msg").read().splitlines()))`, stdout: '1' } },
  ],
  [
    'terminals beyond eight',
    'openpty(3)',
    py`
ends = []
try:
    while len(ends) < 64: ends.append(os.openpty())
except OSError as e: print(len(ends), name(e.errno))
for pair in ends:
    for fd in pair: os.close(fd)
again = os.openpty(); print(os.isatty(again[1])); [os.close(fd) for fd in again]`,
    '8 ENOSPC\nTrue',
  ],
  [
    'terminals of dead processes',
    'terminals held by children',
    py`
pids = []
for _ in range(8):
    pid = os.fork()
    if pid == 0:
        os.openpty(); os._exit(0)
    pids.append(pid)
for p in pids: os.waitpid(p, 0)
time.sleep(0.2); print(len(os.listdir("/dev/pts")) - 1)`,
    '0',
  ],
  [
    'packets for the terminal broker',
    'requests to the terminal broker',
    py`
def broker():
    for fd in range(3, 64):
        try:
            if os.readlink(f"/proc/self/fd/{fd}").startswith("socket") and fd != get_ipython().kernel.session.channel.fileno(): yield fd
        except OSError: pass
for fd in broker():
    sock = socket.socket(fileno=os.dup(fd)); sock.settimeout(1)
    for data in (bytes(60_000), b"\xff" * 16, b"{}", b"9" * 17):
        try: sock.send(data); answer, fds, _, _ = socket.recv_fds(sock, 16, 8); [os.close(f) for f in fds]
        except OSError: pass
    sock.close()
print("still here")`,
    'still here',
  ],
  [
    'broker that is never read',
    'answers that are never read',
    py`
for fd in range(3, 64):
    try:
        if not os.readlink(f"/proc/self/fd/{fd}").startswith("socket") or fd == get_ipython().kernel.session.channel.fileno(): continue
        sock = socket.socket(fileno=os.dup(fd)); sock.setblocking(False)
    except OSError: continue
    for _ in range(2000): err(sock.send, b"?")
    end = time.time() + 1
    while time.time() < end:
        try: _, fds, _, _ = socket.recv_fds(sock, 16, 8); [os.close(f) for f in fds]
        except OSError: time.sleep(0.01)
    sock.close()
print("still here")`,
    'still here',
  ],
  [
    'console redirected',
    'TIOCCONS',
    py`
import fcntl
m, s = os.openpty(); print(err(fcntl.ioctl, s, 0x541D), err(fcntl.ioctl, m, 0x541D)); os.close(m); os.close(s)`,
    /^EPERM E\w+\n$/,
  ],
  [
    'line discipline',
    'TIOCSETD',
    py`
import fcntl
m, s = os.openpty(); print(*{err(fcntl.ioctl, m, 0x5423, struct.pack("i", n)) for n in (1, 2, 3, 5, 13, 15, 17, 21, 25)} - {"EINVAL"}); os.close(m); os.close(s)`,
    /^(E\w+ ?|ok ?)*\n$/,
  ],
  [
    'descriptors in flight',
    'descriptors inside socket buffers',
    py`
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.setblocking(False); said = set()
for _ in range(200):
    said.add(err(socket.send_fds, a, [b"x"], [0] * 250))
a.close(); b.close(); print(sorted(said - {"ok"}))`,
    /^\['(EAGAIN|BlockingIOError|EINVAL|ETOOMANYREFS|ENOBUFS)/,
  ],
  [
    'cycle of sockets in flight',
    'garbage collection of sockets',
    py`
def cycles():
    for _ in range(400):
        a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        socket.send_fds(a, [b"x"], [a.fileno(), b.fileno()]); a.close(); b.close()
print(err(cycles))`,
    /^(ok|ETOOMANYREFS)\n$/,
  ],
  [
    'record locks on files of the image',
    'fcntl(2) record locks',
    py`
import fcntl
fds = [os.open(p, os.O_RDONLY) for p in ("/usr/bin/env", "/etc/hostname", "/usr/bin/python3")]; n = 0
for fd in fds:
    for start in range(0, 4000, 2): n += err(fcntl.lockf, fd, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, start) == "ok"
for fd in fds: os.close(fd)
print(n)`,
    '6000',
  ],
  [
    'descriptors of processes',
    'pidfd_open(2)',
    py`${HOLDERS}
pids, said = holders(3, lambda: os.pidfd_open(os.getpid())); end(pids); print(len(said))`,
    '3',
  ],
  [
    'files without a name',
    'memfd_create(2) in many processes',
    py`${HOLDERS}
pids, said = holders(3, lambda: os.memfd_create("x")); end(pids); print(len(said))`,
    '3',
  ],
  [
    'counters of keys',
    '/proc/key-users',
    py`
try: lines = open("/proc/key-users").read().split("\n")
except OSError: lines = []
print([l.split(":")[0].strip() for l in lines if l.strip() and l.split(":")[0].strip() != str(os.getuid())])`,
    '[]',
  ],
  [
    'robust mutex shared with nothing',
    'futex(2) on shared memory',
    py`
import mmap
m = mmap.mmap(-1, 4096); at = ctypes.addressof(ctypes.c_int.from_buffer(m))
print(sc(202, at, 1, 1 << 30), sc(202, at, 0, 7, 0))`,
    '0 EAGAIN',
  ],
  ['asynchronous requests of the host', 'io_setup(2)', py`print(sc(206, 64, ctypes.byref(ctypes.c_ulong(0))))`, 'ENOSYS'],
  [
    'filters of sockets',
    'SO_ATTACH_FILTER',
    py`
# The kernel compiles them into memory that all containers share: without a limit one sandbox takes all of it.
block = ctypes.create_string_buffer(struct.pack("HBBI", 0x34, 0, 0, 0x10007) * 4000 + struct.pack("HBBI", 6, 0, 0, 0xffff)); said = set()
for _ in range(50):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); said.add(err(s.setsockopt, socket.SOL_SOCKET, 26, struct.pack("HxxxxxxP", 4001, ctypes.addressof(block)))); s.close()
print(*said)`,
    'EPERM',
  ],
  [
    'compiled programs on sockets',
    'SO_ATTACH_BPF',
    py`
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); print(err(s.setsockopt, socket.SOL_SOCKET, 50, 0), err(s.setsockopt, socket.SOL_SOCKET, 51, bytes(16)))`,
    'EPERM EPERM',
  ],
  [
    'filters of system calls',
    'PR_SET_SECCOMP with a filter',
    py`
block = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
print(libc.prctl(22, 2, ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(block))), 0, 0), name(ctypes.get_errno()))`,
    '-1 EINVAL',
  ],
  [
    'counters of files of the host',
    '/proc/sys/fs',
    py`
print([p for p in ("file-nr", "inode-nr", "inode-state", "dentry-state", "aio-nr") if open("/proc/sys/fs/" + p).read()])`,
    '[]',
  ],
  [
    'memory zones of the host',
    '/proc/zoneinfo and the like',
    py`
def text(path):
    try: return open(path).read()
    except OSError: return ""
print([p for p in ("zoneinfo", "buddyinfo", "pagetypeinfo", "diskstats", "softirqs", "schedstat", "interrupts") if text("/proc/" + p)], os.listdir("/proc/fs"))`,
    '[] []',
  ],
  ['pressure of the host', '/proc/pressure', py`print(os.listdir("/proc/pressure"))`, /^\[\]\n$/],
])
