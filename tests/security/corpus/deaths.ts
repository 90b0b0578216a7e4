import { DIES, family, RAISES } from '../../../scripts/hostile-programs/program.ts'

const py = String.raw

/** Ways to end the kernel. Each is reported with its cause. */
export const deaths = family('deaths', [
  ['os._exit', 'exit_group(2)', py`os._exit(0)`, DIES],
  ['segmentation fault', 'SIGSEGV', py`ctypes.string_at(0)`, DIES],
  ['abort', 'abort(3)', py`os.abort()`, DIES],
  ['kill -9 itself', 'deadly signal to itself', py`os.kill(os.getpid(), 9)`, DIES],
  ['kill -1', 'kill(2) of everybody', py`os.kill(-1, 9); print("alone")`, 'alone'],
  ['sys.exit', 'SystemExit', py`sys.exit(3)`, RAISES(/^SystemExit/)],
  [
    'stack overflow in C',
    'C stack',
    py`
x = []
for _ in range(900): x = [x]
threading.stack_size(32768); t = threading.Thread(target=repr, args=(x,)); t.start(); t.join(); time.sleep(5)`,
    DIES,
  ],
  [
    'illegal instruction',
    'SIGILL',
    py`
import mmap
p = mmap.mmap(-1, 4096, prot=7); p.write(b"\x0f\x0b"); ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(p)))()`,
    DIES,
  ],
  [
    'close every descriptor',
    'close_range(2)',
    py`os.closerange(0, 1024)
time.sleep(30)`,
    { status: 'failed' },
  ],
  ['exec another program', 'execve(2) over the kernel', py`os.execv("/bin/true", ["true"])`, DIES],
  ['exec a sleeper', 'execve(2) over the kernel', py`os.execv("/bin/sleep", ["sleep", "60"])`, { status: 'failed' }],
  [
    'fork and leave',
    'orphaned child',
    py`
if os.fork() == 0: time.sleep(30); os._exit(0)
os._exit(1)`,
    DIES,
  ],
  [
    'fork and both continue',
    'fork(2) that returns twice',
    py`pid = os.fork()
if pid == 0: os._exit(0)
os.waitpid(pid, 0); print("parent")`,
    'parent',
  ],
  [
    'bus error',
    'SIGBUS',
    py`
import mmap
fd = os.open("/tmp/bus", os.O_CREAT | os.O_RDWR); os.ftruncate(fd, 8192); m = mmap.mmap(fd, 8192); os.ftruncate(fd, 0); m[4096]`,
    DIES,
  ],
  [
    'file size signal',
    'SIGXFSZ',
    py`
import resource
signal.signal(signal.SIGXFSZ, signal.SIG_DFL); resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.getrlimit(resource.RLIMIT_FSIZE)[1])); open("/tmp/big", "wb").write(bytes(100))`,
    DIES,
  ],
  [
    'cpu limit',
    'RLIMIT_CPU',
    py`
import resource
resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + 1, int(time.process_time()) + 1))
while True: pass`,
    DIES,
    { timeoutSeconds: 30 },
  ],
  [
    'own filter that kills',
    'own filter that kills',
    py`
p = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x80000000)); sc(317, 1, 0, struct.pack("HxxxxxxP", 1, ctypes.addressof(p)))
print(os.getppid() > 0)`,
    'True',
  ],
  ['interrupt itself', 'SIGINT to itself', py`os.kill(os.getpid(), signal.SIGINT); time.sleep(1)`, RAISES(/^KeyboardInterrupt/)],
  [
    'terminate itself',
    'deadly signal to itself',
    py`signal.signal(signal.SIGTERM, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGTERM); time.sleep(5)`,
    DIES,
  ],
  [
    'core dump',
    'RLIMIT_CORE',
    py`
import resource
print(resource.getrlimit(resource.RLIMIT_CORE), [l.split()[4] for l in open("/proc/self/limits") if l.startswith("Max core")][0])`,
    '(0, 0) 0',
  ],
  [
    'close stdout and stderr',
    'close(2) of the output',
    py`
os.close(1); os.close(2)
os.open("/dev/null", os.O_RDWR); os.open("/dev/null", os.O_RDWR)
print("through the kernel")
os._exit(0)`,
    DIES,
  ],
  [
    'dup over every descriptor',
    'dup2(2)',
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
    'exit_group(2)',
    py`
threading.Thread(target=lambda: os._exit(9)).start(); time.sleep(5)`,
    DIES,
  ],
])
