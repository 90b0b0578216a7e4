const py = String.raw

/** The pattern of a tenant's marker. The other tenant must never read a match. */
export const MARKER = /NEIGHBOUR-[0-9a-f]{24}/

/** Plants the tenant's marker everywhere in a sandbox, readable by every process that reaches it. */
export const plantMarker = (marker: string): string => py`
import ctypes, fcntl, os, re, socket, subprocess, sys, threading
libc = ctypes.CDLL(None, use_errno=True); libc.shmat.restype = ctypes.c_void_p
MARKER = ${JSON.stringify(marker)}.encode()
for path in ("/mnt/data/secret.txt", "/tmp/secret", "/home/worker/secret", "/dev/shm/secret", "/run/worker/secret"):
    fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o666); os.write(fd, MARKER); os.close(fd)
memory = libc.shmget(0x5eed, 4096, 0o1666); libc_at = libc.shmat(memory, None, 0); ctypes.memmove(libc_at, MARKER, len(MARKER))
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)", MARKER.decode()], env={"SECRET": MARKER.decode()}, cwd="/mnt/data")
def serve_marker(address):
    server = socket.socket(socket.AF_UNIX); server.bind(address); server.listen(64)
    def serve():
        while True:
            client, _ = server.accept(); client.sendall(MARKER); client.close()
    threading.Thread(target=serve, daemon=True).start()
serve_marker("\0neighbour"); serve_marker("/tmp/neighbour.sock")
lock = os.open("/usr/bin/env", os.O_RDONLY); fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
print("planted")`

/**
 * Tries every channel to other sandboxes for `seconds` and prints as JSON the markers found by each. A sandbox with a planted marker finds
 * its own marker by every channel, which shows that the channels work.
 */
export const attack = (seconds: number): string => py`
import ctypes, fcntl, json, os, re, socket, time
libc = ctypes.CDLL(None, use_errno=True); libc.shmat.restype = ctypes.c_void_p
def read(path, size=65536):
    with open(path, "rb") as file: return file.read(size)
def pids(): return [p for p in os.listdir("/proc") if p.isdigit()]
def every(paths):
    for path in paths:
        try: yield read(path)
        except OSError: pass
def ask(address):
    client = socket.socket(socket.AF_UNIX); client.settimeout(1)
    try: client.connect(address); return client.recv(4096)
    except OSError: return b""
    finally: client.close()
def below(folder): return (f"{d}/{n}" for d, _, names in os.walk(folder) for n in names if not os.path.exists(f"{d}/{n}") or os.path.isfile(f"{d}/{n}"))
def abstract(): return {line.split()[-1][1:] for line in open("/proc/net/unix").read().splitlines()[1:] if line.split()[-1].startswith("@")} | {"neighbour"}
def segments():
    for identity in list(range(64)) + [libc.shmget(key, 0, 0) for key in range(0x5eed - 8, 0x5eed + 8)]:
        at = libc.shmat(identity, None, 0o10000)
        if at not in (None, ctypes.c_void_p(-1).value):
            yield ctypes.string_at(at, 4096); libc.shmdt(ctypes.c_void_p(at))
WAYS = {
    "environments of processes": lambda: every(f"/proc/{p}/environ" for p in pids()),
    "arguments of processes": lambda: every(f"/proc/{p}/cmdline" for p in pids()),
    "folders of processes": lambda: every(f"/proc/{p}/cwd/secret.txt" for p in pids()),
    "roots of processes": lambda: every(f"/proc/{p}/root/tmp/secret" for p in pids()),
    "writable folders": lambda: every(path for folder in ("/mnt/data", "/tmp", "/home/worker", "/run/worker") for path in below(folder)),
    "shared memory files": lambda: every(below("/dev/shm")),
    "shared memory segments": segments,
    "abstract sockets": lambda: (ask("\0" + name) for name in abstract()),
    "sockets with a path": lambda: (ask(f"{d}/{n}") for d in ("/tmp", "/run/worker", "/mnt/data") for n in os.listdir(d) if n.endswith(".sock")),
    "own memory": lambda: [bytes(marker) for marker in (globals().get("MARKER", b""),)],
}
# Channels through which nothing of other sandboxes may be visible.
def foreign_processes(): own = known(); return [p for p in range(2, 4000) if p not in own and alive(p) and p not in known()]
def known(): return {int(t) for p in pids() for t in ([p] + (os.listdir(f"/proc/{p}/task") if os.path.exists(f"/proc/{p}/task") else []))}
def alive(p):
    try: os.kill(p, 0); return True
    except PermissionError: return p not in known()
    except OSError: return False
def packets():
    for host in range(1, 20):
        for kind in (1, 2):
            try: s = socket.socket(2, kind); s.settimeout(0.1); s.connect((f"172.17.0.{host}", 8700)); yield f"172.17.0.{host}"
            except OSError: pass
CLOSED = {
    "processes of others": foreign_processes,
    "addresses of others": lambda: list(packets()),
    "control groups of others": lambda: [n for d, names, _ in os.walk("/sys/fs/cgroup") for n in names if re.fullmatch("[0-9a-f]{64}|sbx_.*", n)],
    "control folders of others": lambda: [n for n in ("/run/cellblock", "/run/cellblock/control", "/var/lib/docker", "/var/run/docker.sock") if os.access(n, os.R_OK)],
    # The engine shows a sandbox only its own id there.
    "mounts of others": lambda: sorted(set(re.findall(r"/(?:containers|volumes)/([0-9a-f]{12,})", open("/proc/self/mountinfo").read())))[1:],
}
found, open_ways, attempts, end = {way: set() for way in WAYS}, {}, 0, time.monotonic() + ${seconds}
while attempts == 0 or time.monotonic() < end:
    for way, go in WAYS.items():
        for data in go():
            attempts += 1; found[way] |= set(re.findall(${JSON.stringify(MARKER.source)}, data.decode("latin1")))
    for way, go in CLOSED.items():
        attempts += 1; seen = go()
        if seen: open_ways[way] = repr(seen)[:200]
    # Leave most of the processor time to the other suites.
    time.sleep(0.1)
# Both sandboxes hold the lock at once, unless one sees the other's lock.
fd = os.open("/usr/bin/env", os.O_RDONLY)
try: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB); held = False
except BlockingIOError: held = True
os.close(fd)
print(json.dumps({"attempts": attempts, "found": {way: sorted(markers) for way, markers in found.items()}, "open": open_ways, "held": held}))`
