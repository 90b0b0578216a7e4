import { family, OUT_OF_MEMORY, TIMES_OUT } from '../../../scripts/hostile-programs/program.ts'

const py = String.raw

/** Resource bombs. They end with a typed status, and the next call works. */
export const resources = family('resources', [
  [
    'fork bomb',
    'fork(2)',
    py`
n = 0
try:
    while n < 2000:
        if os.fork() == 0: signal.pause(); os._exit(0)
        n += 1
except OSError as e: print(name(e.errno), n < 300)
for p in filter(str.isdigit, os.listdir("/proc")):
    try:
        if open(f"/proc/{p}/stat").read().split(") ")[1].split()[1] == str(os.getpid()): os.kill(int(p), 9)
    except OSError: pass
end = time.time() + 5
while time.time() < end:
    try: os.waitpid(-1, os.WNOHANG)[0] or time.sleep(0.02)
    except ChildProcessError: break`,
    'EAGAIN True',
  ],
  [
    'threads',
    'pthread_create(3)',
    py`
n, go = 0, threading.Event()
try:
    while n < 3000: threading.Thread(target=go.wait, daemon=True).start(); n += 1
except RuntimeError: print("refused", n < 300)
go.set(); time.sleep(0.3)`,
    'refused True',
  ],
  [
    'heap',
    'brk(2)',
    py`x = []
while True: x.append(bytearray(b"x") * (16 << 20))`,
    OUT_OF_MEMORY,
    { timeoutSeconds: 120 },
  ],
  [
    'anonymous mapping',
    'mmap(2) without a file',
    py`
import mmap
m = mmap.mmap(-1, 8 << 30)
for i in range(0, len(m), 4096): m[i] = 1`,
    OUT_OF_MEMORY,
    { timeoutSeconds: 120 },
  ],
  [
    'segments of system v beyond the tier',
    'shmat(2)',
    py`
libc.shmat.restype = ctypes.c_void_p
for _ in range(150): ctypes.memset(libc.shmat(libc.shmget(0, 10 << 20, 0o1600), None, 0), 1, 10 << 20)
print("holds 1.5 GB", flush=True); time.sleep(20)`,
    OUT_OF_MEMORY,
    { timeoutSeconds: 120 },
  ],
  [
    'shared memory file',
    'bytes of a tmpfs',
    py`
f = open("/dev/shm/x", "wb"); n = 0
try:
    while True: n += f.write(bytes(1 << 20))
except OSError as e: print(name(e.errno), n <= 200 << 20)
try: f.close()
except OSError: pass
os.unlink("/dev/shm/x")`,
    'ENOSPC True',
  ],
  [
    'tmp',
    'bytes of a tmpfs',
    py`
n, fd = 0, os.open("/tmp/x", os.O_CREAT | os.O_WRONLY)
try:
    while True: n += os.write(fd, bytes(1 << 20))
except OSError as e: print(name(e.errno), n <= 300 << 20)
os.close(fd); os.unlink("/tmp/x")`,
    'ENOSPC True',
  ],
  [
    'home',
    'bytes of a tmpfs',
    py`
n, fd = 0, os.open("/home/worker/x", os.O_CREAT | os.O_WRONLY)
try:
    while True: n += os.write(fd, bytes(1 << 20))
except OSError as e: print(name(e.errno), n <= 70 << 20)
os.close(fd); os.unlink("/home/worker/x")`,
    'ENOSPC True',
  ],
  [
    'one file beyond its size',
    'RLIMIT_FSIZE',
    py`
fd = os.open("/mnt/data/x", os.O_CREAT | os.O_WRONLY); os.lseek(fd, 1 << 29, 0); r = err(os.write, fd, b"x"); os.close(fd); os.unlink("/mnt/data/x"); print(r)`,
    'EFBIG',
  ],
  [
    'space of deleted files',
    'unlinked files',
    py`
n, fd = 0, os.open("/tmp/gone", os.O_CREAT | os.O_WRONLY); os.unlink("/tmp/gone")
try:
    while True: n += os.write(fd, bytes(1 << 20))
except OSError as e: print(name(e.errno))
os.close(fd)`,
    'ENOSPC',
  ],
  [
    'inodes',
    'inodes of a tmpfs',
    py`
os.makedirs("/run/worker/i"); n = 0
try:
    while n < 60_000: os.close(os.open(f"/run/worker/i/{n}", os.O_CREAT)); n += 1
except OSError as e: print(name(e.errno))
import shutil; shutil.rmtree("/run/worker/i")`,
    'ENOSPC',
  ],
  [
    'descriptors',
    'RLIMIT_NOFILE',
    py`
n, fds = 0, []
try:
    while n < 5000: fds.append(os.dup(1)); n += 1
except OSError as e: r = (name(e.errno), n < 1100)
for f in fds: os.close(f)
print(*r)`,
    'EMFILE True',
  ],
  [
    'pipe buffers',
    'F_SETPIPE_SZ',
    py`
import fcntl
print(err(fcntl.fcntl, os.pipe()[0], 1031, 1 << 26))`,
    'EPERM',
  ],
  ['limit of locked memory', 'RLIMIT_MEMLOCK', py`import resource; print(resource.getrlimit(resource.RLIMIT_MEMLOCK)[1] <= 65536)`, 'True'],
  ['locked memory', 'mlockall(2)', py`print(libc.mlockall(3), name(ctypes.get_errno()))`, /^-1 (ENOMEM|EPERM)\n$/],
  [
    'timers',
    'timer_create(2)',
    py`
n = 0; t = ctypes.c_void_p()
while n < 20_000 and libc.timer_create(0, None, ctypes.byref(t)) == 0: n += 1
print(n < 20_000)`,
    /^(True|False)\n$/,
  ],
  [
    'busy loop',
    'loop of the interpreter',
    py`
while True: pass`,
    TIMES_OUT,
    { timeoutSeconds: 1 },
  ],
  ['sleep', 'call that blocks', py`time.sleep(600)`, TIMES_OUT, { timeoutSeconds: 1 }],
  [
    'deaf loop',
    'blocked signals',
    py`
signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
while True: pass`,
    TIMES_OUT,
    { timeoutSeconds: 1 },
  ],
  [
    'loop that catches everything',
    'swallowed interrupts',
    py`
while True:
    try:
        while True: pass
    except BaseException: pass`,
    TIMES_OUT,
    { timeoutSeconds: 1 },
  ],
  [
    'ignored interrupts',
    'signal(2) that ignores',
    py`
signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True: time.sleep(1)`,
    TIMES_OUT,
    { timeoutSeconds: 1 },
  ],
  ['stopped kernel', 'SIGSTOP to itself', py`os.kill(os.getpid(), signal.SIGSTOP)`, TIMES_OUT, { timeoutSeconds: 1 }],
  [
    'regular expression',
    'C code that does not return',
    py`
import re
re.match(r"(a+)+$", "a" * 60 + "b")`,
    TIMES_OUT,
    { timeoutSeconds: 1 },
  ],
  ['big power', 'C code that does not return', py`x = 9 ** 9 ** 9`, TIMES_OUT, { timeoutSeconds: 1 }],
  [
    'spin on every core',
    'children that spin',
    py`
def fork():
    # What a program before this one left behind may still be on its way out.
    for _ in range(100):
        try: return os.fork()
        except BlockingIOError: time.sleep(0.1)
    return os.fork()
children = []
for _ in range(4):
    pid = fork()
    if pid == 0:
        while True: pass
    children.append(pid)
time.sleep(0.3)
for p in children: os.kill(p, 9); os.waitpid(p, 0)
print(len(children))`,
    '4',
  ],
  [
    'data folder',
    'fallocate(2)',
    py`
n = 0
try:
    for i in range(4):
        fd = os.open(f"/mnt/data/full{i}", os.O_CREAT | os.O_WRONLY)
        try: os.posix_fallocate(fd, 0, 400 << 20)
        finally: os.close(fd)
        n += 400
except OSError as e: print(name(e.errno), n <= 1024)
import glob
for f in glob.glob("/mnt/data/full*"): os.unlink(f)`,
    'ENOSPC True',
  ],
  [
    'gzip bomb',
    'compression',
    py`
import gzip, io
b = io.BytesIO()
with gzip.GzipFile(fileobj=b, mode="wb") as g:
    for _ in range(64): g.write(bytes(1 << 20))
print(len(b.getvalue()) < 200_000)`,
    'True',
  ],
])
