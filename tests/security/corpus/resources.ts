import { DIES, family, OUT_OF_MEMORY, RAISES, TIMES_OUT } from './program.ts'

const py = String.raw

/** Bombs: they end typed, and the next call works. */
export const resources = family('resources', [
  [
    'fork bomb',
    py`
n = 0
try:
    while n < 2000:
        if os.fork() == 0: signal.pause(); os._exit(0)
        n += 1
except OSError as e: print(name(e.errno), n < 300)
os.system("true") if False else None
for p in filter(str.isdigit, os.listdir("/proc")):
    try:
        if open(f"/proc/{p}/stat").read().split(") ")[1].split()[1] == str(os.getpid()): os.kill(int(p), 9)
    except OSError: pass`,
    'EAGAIN True',
  ],
  [
    'threads',
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
    py`x = []
while True: x.append(bytearray(os.urandom(1) * (16 << 20)))`,
    OUT_OF_MEMORY,
    { timeoutSeconds: 40 },
  ],
  [
    'anonymous mapping',
    py`
import mmap
m = mmap.mmap(-1, 8 << 30)
for i in range(0, len(m), 4096): m[i] = 1`,
    OUT_OF_MEMORY,
    { timeoutSeconds: 40 },
  ],
  [
    'shared memory file',
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
    py`
fd = os.open("/mnt/data/x", os.O_CREAT | os.O_WRONLY); os.lseek(fd, 1 << 29, 0); r = err(os.write, fd, b"x"); os.close(fd); os.unlink("/mnt/data/x"); print(r)`,
    'EFBIG',
  ],
  [
    'space of deleted files',
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
    py`
os.makedirs("/home/worker/i"); n = 0
try:
    while n < 60_000: os.close(os.open(f"/home/worker/i/{n}", os.O_CREAT)); n += 1
except OSError as e: print(name(e.errno))
import shutil; shutil.rmtree("/home/worker/i")`,
    'ENOSPC',
    { timeoutSeconds: 40 },
  ],
  [
    'descriptors',
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
    py`
import fcntl
print(err(fcntl.fcntl, os.pipe()[0], 1031, 1 << 26))`,
    'EPERM',
  ],
  ['limit of locked memory', py`import resource; print(resource.getrlimit(resource.RLIMIT_MEMLOCK)[1] <= 65536)`, 'True'],
  ['locked memory', py`print(libc.mlockall(3), name(ctypes.get_errno()))`, /^-1 (ENOMEM|EPERM)\n$/],
  [
    'timers',
    py`
n = 0; t = ctypes.c_void_p()
while n < 200_000 and libc.timer_create(0, None, ctypes.byref(t)) == 0: n += 1
print(n < 200_000)`,
    /^(True|False)\n$/,
  ],
  [
    'busy loop',
    py`
while True: pass`,
    TIMES_OUT,
    { timeoutSeconds: 2 },
  ],
  ['sleep', py`time.sleep(600)`, TIMES_OUT, { timeoutSeconds: 2, mechanism: 'blocking call' }],
  [
    'deaf loop',
    py`
signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
while True: pass`,
    TIMES_OUT,
    { timeoutSeconds: 2 },
  ],
  [
    'loop that catches everything',
    py`
while True:
    try:
        while True: pass
    except BaseException: pass`,
    TIMES_OUT,
    { timeoutSeconds: 2 },
  ],
  ['stopped kernel', py`os.kill(os.getpid(), signal.SIGSTOP)`, TIMES_OUT, { timeoutSeconds: 2 }],
  [
    'regular expression',
    py`
import re
re.match(r"(a+)+$", "a" * 60 + "b")`,
    TIMES_OUT,
    { timeoutSeconds: 2 },
  ],
  ['big power', py`x = 9 ** 9 ** 9`, TIMES_OUT, { timeoutSeconds: 2 }],
  [
    'spin on every core',
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
time.sleep(1)
for p in children: os.kill(p, 9); os.waitpid(p, 0)
print(len(children))`,
    '4',
  ],
  [
    'data folder',
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
    py`
import gzip, io
b = io.BytesIO()
with gzip.GzipFile(fileobj=b, mode="wb") as g:
    for _ in range(64): g.write(bytes(1 << 20))
print(len(b.getvalue()) < 200_000)`,
    'True',
  ],
])

/** Ways to die: each is told as what it was. */
export const deaths = family('deaths', [
  ['os._exit', py`os._exit(0)`, DIES],
  ['segmentation fault', py`ctypes.string_at(0)`, DIES],
  ['abort', py`os.abort()`, DIES],
  ['kill -9 itself', py`os.kill(os.getpid(), 9)`, DIES],
  ['kill -1', py`os.kill(-1, 9); print("alone")`, 'alone'],
  ['sys.exit', py`sys.exit(3)`, RAISES(/^SystemExit/)],
  [
    'stack overflow in C',
    py`
sys.setrecursionlimit(10 ** 9); threading.stack_size(0)
class A: pass
a = A()
libc.alloca if False else None
def f(n): return f(n + 1) if n >= 0 else 0
x = []
for _ in range(10 ** 6): x = [x]
import _json
_json.encode_basestring
ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(bytearray(1))) & 0xfff, 0, 1)`,
    DIES,
  ],
  [
    'illegal instruction',
    py`
import mmap
p = mmap.mmap(-1, 4096, prot=7); p.write(b"\x0f\x0b"); ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(p)))()`,
    DIES,
  ],
  [
    'close every descriptor',
    py`os.closerange(0, 1024)
time.sleep(30)`,
    { status: 'failed' },
  ],
  ['exec another program', py`os.execv("/bin/true", ["true"])`, DIES],
  ['exec a sleeper', py`os.execv("/bin/sleep", ["sleep", "60"])`, { status: 'failed' }, { mechanism: 'execve of a program that stays' }],
  [
    'fork and leave',
    py`
if os.fork() == 0: time.sleep(30); os._exit(0)
os._exit(1)`,
    DIES,
  ],
  [
    'fork and both go on',
    py`pid = os.fork()
if pid == 0: os._exit(0)
os.waitpid(pid, 0); print("parent")`,
    'parent',
  ],
  [
    'bus error',
    py`
import mmap
fd = os.open("/tmp/bus", os.O_CREAT | os.O_RDWR); os.ftruncate(fd, 8192); m = mmap.mmap(fd, 8192); os.ftruncate(fd, 0); m[4096]`,
    DIES,
  ],
  [
    'file size signal',
    py`
import resource
signal.signal(signal.SIGXFSZ, signal.SIG_DFL); resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.getrlimit(resource.RLIMIT_FSIZE)[1])); open("/tmp/big", "wb").write(bytes(100))`,
    DIES,
  ],
  [
    'cpu limit',
    py`
import resource
resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + 1, int(time.process_time()) + 1))
while True: pass`,
    DIES,
    { timeoutSeconds: 30 },
  ],
  [
    'own filter that kills',
    py`
p = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x80000000)); sc(317, 1, 0, struct.pack("HxxxxxxP", 1, ctypes.addressof(p)))
os.getppid()`,
    DIES,
  ],
  ['interrupt itself', py`os.kill(os.getpid(), signal.SIGINT); time.sleep(1)`, RAISES(/^KeyboardInterrupt/)],
  ['terminate itself', py`signal.signal(signal.SIGTERM, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGTERM); time.sleep(5)`, DIES],
  [
    'core dump',
    py`
import resource
print(resource.getrlimit(resource.RLIMIT_CORE), [l.split()[4] for l in open("/proc/self/limits") if l.startswith("Max core")][0])`,
    '(0, 0) 0',
  ],
  [
    'close stdout and stderr',
    py`
os.close(1); os.close(2)
os.open("/dev/null", os.O_RDWR); os.open("/dev/null", os.O_RDWR)
print("through the kernel")
os._exit(0)`,
    DIES,
  ],
  [
    'dup over every descriptor',
    py`
null = os.open("/dev/null", os.O_RDWR)
for f in range(3, 200):
    if f != null:
        try: os.fstat(f); os.dup2(null, f)
        except OSError: pass
time.sleep(20)`,
    { status: 'failed' },
  ],
  [
    'exit in a thread',
    py`
threading.Thread(target=lambda: os._exit(9)).start(); time.sleep(5)`,
    DIES,
  ],
])
