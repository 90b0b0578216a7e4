const py = String.raw

/** A resource by which one sandbox could signal to another: the sender takes and releases it, the receiver observes it. */
export interface Channel {
  readonly name: string
  /** Closed: no bit may pass. Open: the host's kernel shows it to every container, so it is measured only. */
  readonly kind: 'closed' | 'open'
  /** The time of one bit, milliseconds. */
  readonly slotMs: number
  /** Defines `up()` and `down()` of the sender, and `read()` of the receiver, which returns a number. */
  readonly code: string
}

const closed = (name: string, slotMs: number, code: string): Channel => ({ name, kind: 'closed', slotMs, code })
const open = (name: string, slotMs: number, code: string): Channel => ({ name, kind: 'open', slotMs, code })

export const CHANNELS: readonly Channel[] = [
  closed(
    'inotify instances of a user',
    20,
    py`
held = []
def up():
    while (fd := libc.inotify_init1(0)) >= 0: held.append(fd)
def down():
    while held: os.close(held.pop())
def read():
    fd = libc.inotify_init1(0)
    if fd >= 0: os.close(fd)
    return int(fd < 0)`,
  ),
  closed(
    'pending signals of a user',
    40,
    py`
# The kernel compares the count of the user with the limit of the caller.
resource.setrlimit(resource.RLIMIT_SIGPENDING, (200, resource.getrlimit(resource.RLIMIT_SIGPENDING)[1]))
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
def queue(): return libc.pthread_sigqueue(ctypes.c_ulong(threading.get_ident()), int(signal.SIGRTMIN), None)
def up():
    while queue() == 0: pass
def down():
    while signal.sigtimedwait({signal.SIGRTMIN}, 0): pass
def read():
    is_full = queue() != 0
    down(); return int(is_full)`,
  ),
  closed(
    'pages of the pipes of a user',
    40,
    py`
held = []
def up():
    down()
    for _ in range(80):
        r, w = os.pipe(); held.extend((r, w))
        try: fcntl.fcntl(w, 1031, 1 << 20)
        except OSError: break
def down():
    while held: os.close(held.pop())
def read():
    r, w = os.pipe()
    try: fcntl.fcntl(w, 1031, 1 << 20); return 0
    except OSError: return 1
    finally: os.close(r); os.close(w)`,
  ),
  closed(
    'System V shared memory',
    20,
    py`
held = []
def up(): down(); held.extend(libc.shmget(0, 4096, 0o1600) for _ in range(40))
def down():
    while held: libc.shmctl(held.pop(), 0, None)
def read(): return len(open("/proc/sysvipc/shm").read().splitlines())`,
  ),
  closed(
    'number of terminals of the host',
    60,
    py`
held = []
def up():
    try:
        while True: held.extend(os.openpty())
    except OSError: pass
def down():
    while held: os.close(held.pop())
def read(): return int(open("/proc/sys/kernel/pty/nr").read() or len(os.listdir("/dev/pts")))`,
  ),
  closed(
    'locks on files of the image',
    20,
    py`
lock = os.open("/usr/bin/env", os.O_RDONLY)
def up(): fcntl.flock(lock, fcntl.LOCK_EX)
def down(): fcntl.flock(lock, fcntl.LOCK_UN)
def read():
    fd = os.open("/usr/bin/env", os.O_RDONLY)
    try: fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB); return 0
    except OSError: return 1
    finally: os.close(fd)`,
  ),
  closed(
    'list of locks',
    20,
    py`
lock = os.open("/tmp/locked", os.O_CREAT | os.O_RDWR)
def up():
    for start in range(0, 100, 2): fcntl.lockf(lock, fcntl.LOCK_EX, 1, start)
def down(): fcntl.lockf(lock, fcntl.LOCK_UN)
def read(): return len(open("/proc/locks").read().splitlines())`,
  ),
  closed(
    'events of files of the image',
    20,
    py`
watch = libc.inotify_init1(0o4000); libc.inotify_add_watch(watch, b"/usr/bin/env", 0xfff)
def up():
    for _ in range(20): os.close(os.open("/usr/bin/env", os.O_RDONLY))
def down(): pass
def read():
    try: return len(os.read(watch, 65536))
    except BlockingIOError: return 0`,
  ),
  closed(
    'sockets of a network namespace',
    20,
    py`
held = []
def up(): down(); held.extend(socket.socket(socket.AF_UNIX) for _ in range(100))
def down():
    while held: held.pop().close()
def read(): return int(open("/proc/net/sockstat").read().split()[2])`,
  ),
  closed(
    'open files of the host',
    20,
    py`
held = []
def up(): down(); held.extend(os.open("/dev/null", os.O_RDONLY) for _ in range(700))
def down():
    while held: os.close(held.pop())
def of_child():
    try: return len(os.listdir(f"/proc/{child}/fd"))
    except PermissionError: return 0  # It has ended.
def read(): return int((open("/proc/sys/fs/file-nr").read().split() or [of_child() if SELF else 0])[0])`,
  ),
  closed(
    'inodes of the host',
    40,
    py`
os.makedirs("/tmp/inodes", exist_ok=True)
def up():
    for i in range(300): os.close(os.open(f"/tmp/inodes/{i}", os.O_CREAT))
def down():
    for entry in os.listdir("/tmp/inodes"): os.unlink("/tmp/inodes/" + entry)
def read(): return int((open("/proc/sys/fs/inode-nr").read().split() or [len(os.listdir("/tmp/inodes")) if SELF else 0])[0])`,
  ),
  open(
    'number of threads of the host',
    60,
    py`
event = threading.Event(); held = []
def up():
    down(); event.clear(); held.extend(threading.Thread(target=event.wait, daemon=True) for _ in range(40)); [t.start() for t in held]
def down():
    event.set(); [t.join() for t in held]; held.clear()
def read(): return int(open("/proc/loadavg").read().split()[3].split("/")[1])`,
  ),
  open(
    'processes started on the host',
    100,
    py`
last = 0
def up():
    for _ in range(12): os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
def down(): pass
def read():
    global last
    now = int(next(l for l in open("/proc/stat") if l.startswith("processes")).split()[1]); last, before = now, last
    return now - before`,
  ),
  open(
    'free memory of the host',
    100,
    py`
import mmap
held = []
def up():
    down(); m = mmap.mmap(-1, 96 << 20); m.madvise(mmap.MADV_POPULATE_WRITE if hasattr(mmap, "MADV_POPULATE_WRITE") else 23); held.append(m)
def down():
    while held: held.pop().close()
def read(): return int(open("/proc/meminfo").read().split()[4])`,
  ),
  open(
    'load of the processors',
    100,
    py`
def up():
    end = time.monotonic() + 0.07
    while time.monotonic() < end: pass
def down(): pass
def read():
    end, n = time.monotonic() + 0.02, 0
    while time.monotonic() < end: n += 1
    return n`,
  ),
  open(
    'page cache of files of the image',
    40,
    py`
import glob
path = max(glob.glob("/usr/lib/x86_64-linux-gnu/*.so*") + glob.glob("/usr/local/lib/python3.13/dist-packages/*/*.so"), key=os.path.getsize)
file = os.open(path, os.O_RDONLY); os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM); os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
turn, pages = -1, os.fstat(file).st_size >> 12
def page():
    global turn
    turn += 1; return ((turn * 37) % pages) << 12
def up(): os.pread(file, 1, page())
def down(): page()
# How long a page takes: overlayfs refuses to say whether it is in memory.
def read():
    since = time.perf_counter_ns(); os.pread(file, 1, page()); return time.perf_counter_ns() - since`,
  ),
]

/** Takes whatever a user may take of what the kernel counts per user or host, and holds it. */
export const EXHAUST = py`
import ctypes, fcntl, os, select, signal, socket, struct, time
libc = ctypes.CDLL(None, use_errno=True)
r, w = os.pipe(); pids = []
for role in range(24):
    pid = os.fork()
    if pid == 0:
        held = []
        try:
            if role == 0:
                while (fd := libc.inotify_init1(0)) >= 0: held.append(fd)
            elif role == 1:
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
                while libc.sigqueue(os.getpid(), int(signal.SIGRTMIN), None) == 0: pass
            elif role == 2:
                while True: a, b = os.pipe(); held += [a, b]; fcntl.fcntl(b, 1031, 1 << 20)
            elif role == 3:
                while True: held += os.openpty()
            elif role == 4:
                block = ctypes.create_string_buffer(struct.pack("HBBI", 0x34, 0, 0, 0x10007) * 4000 + struct.pack("HBBI", 6, 0, 0, 1))
                while True: s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); held.append(s); s.setsockopt(1, 26, struct.pack("HxxxxxxP", 4001, ctypes.addressof(block)))
            else:
                fds = [os.dup(r) for _ in range(400)]
                while True:
                    e = select.epoll(); held.append(e)
                    for fd in fds: e.register(fd, select.EPOLLIN)
        except OSError: pass
        os.write(w, b"."); signal.pause()
    pids.append(pid)
n = 0
while n < len(pids): n += len(os.read(r, 64))
print("exhausted", n)`

/** Uses a little of each resource, in the sandbox of another tenant. */
export const USE = py`
import ctypes, fcntl, os, select, signal, threading
libc = ctypes.CDLL(None, use_errno=True); failed = []
def attempt(what, work):
    try:
        if work() is False: failed.append(what)
    except OSError as e: failed.append(f"{what}: {e}")
def pipe():
    a, b = os.pipe(); fcntl.fcntl(b, 1031, 1 << 20); os.close(a); os.close(b)
def poll():
    a, b = os.pipe(); e = select.epoll()
    for _ in range(50): e.register(os.dup(a), select.EPOLLIN)
def terminal(): [os.close(fd) for fd in os.openpty()]
attempt("inotify", lambda: libc.inotify_init1(0) >= 0)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN}); attempt("signals", lambda: libc.pthread_sigqueue(ctypes.c_ulong(threading.get_ident()), int(signal.SIGRTMIN), None) == 0)
attempt("pipes", pipe); attempt("terminals", terminal); attempt("polls", poll)
print(failed)`
