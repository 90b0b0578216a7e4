import { DIES, family } from '../../../scripts/hostile-programs/program.ts'

const py = String.raw

/** Packets of the kernel channel, made with the supervisor's own library, with the number of the current request. */
const CHANNEL = py`
import json
session = get_ipython().kernel.session; channel = session.channel; sock = channel._socket; request = session.request_id
def packet(body, number=1 << 50, last=1): return struct.pack("<BQB", 0x4A, number, last) + (body if isinstance(body, bytes) else json.dumps(body).encode())
def inherited():
    for fd in range(3, 256):
        try:
            if os.readlink(f"/proc/self/fd/{fd}").startswith(("socket", "pipe", "anon_inode")): yield fd
        except OSError: pass
`

/** Attacks on the channel between kernel and supervisor: packets, descriptors and processes. */
export const kernelChannel = family('kernel-channel', [
  [
    'forged reply that claims the envelope',
    'reply of the running request',
    py`${CHANNEL}
files = [{"path": "../../etc/passwd", "bytes": 1, "sha256": "0" * 64, "change": "created"}]
sock.send(packet({"op": "reply", "id": request, "status": "ok", "count": 99, "outcome": "oom", "run_ms": 0, "files": files, "deleted": [], "skipped": [], "state_lost": None}))
time.sleep(0.3)`,
    { status: 'succeeded', stdout: '', files: [] },
  ],
  [
    'forged end of an execution',
    'events of the protocol on the channel',
    py`${CHANNEL}
for kind in ("started", "cell_done", "done", "error"):
    sock.send(packet({"seq": 0, "t": 0, "type": kind, "op": kind, "id": request, "index": 0, "status": "ok", "outcome": "timed_out", "files": [{"path": "forged"}]}))
time.sleep(0.3); print("still here")`,
    { status: 'succeeded', stdout: 'still here\n', files: [] },
  ],
  [
    'forged death of the kernel',
    'frames on inherited descriptors',
    py`${CHANNEL}
report = {"op": "exited", "tag": "1", "pid": os.getpid(), "code": 0, "signal": None}
for fd in inherited():
    for body in (report, {"op": "preload", "tag": "1", "modules": ["antigravity"]}, {"op": "open", "path": "../../etc/shadow"}, {"error": "x"}):
        for data in (packet(body), json.dumps(body).encode(), json.dumps(body).encode() + b"\n"):
            if fd > 2 and not os.readlink(f"/proc/self/fd/{fd}").startswith("anon"): err(os.write, fd, data)
time.sleep(0.3); print("still here")`,
    { status: 'succeeded', stdout: /still here\n$/, files: [] },
  ],
  [
    'requests of another number',
    'replies to requests that are not running',
    py`${CHANNEL}
for number in ("", "0", request[::-1], None, {}, [], 7): sock.send(packet({"op": "reply", "id": number, "status": "error", "name": "Forged", "value": "x"}))
time.sleep(0.2); print("still here")`,
    'still here',
  ],
  [
    'ready a second time',
    'start-up message of the kernel',
    py`${CHANNEL}
for _ in range(50): sock.send(packet({"op": "ready", "id": "", "python": "9.9.9"}))
print("still here")`,
    'still here',
  ],
  [
    'fragments that never end',
    'unfinished fragments',
    py`${CHANNEL}
for number in range(3000): sock.send(packet(b"x" * 8000, number=(1 << 51) + number, last=0))
print("still here")`,
    'still here',
  ],
  [
    'one message without an end',
    'message beyond the cap',
    py`${CHANNEL}
for _ in range(600): sock.send(packet(b"x" * 60_000, last=0))
print("still here")`,
    'still here',
  ],
  [
    'packets of unknown kinds',
    'kinds of packets',
    py`${CHANNEL}
for kind in range(256):
    if kind not in (0x31, 0x32, 0x4A): sock.send(bytes([kind]) + os.urandom(64))
print("still here")`,
    'still here',
  ],
  [
    'packets that are no messages',
    'malformed messages',
    py`${CHANNEL}
for body in (b"", b"{", b"[1]", b"null", b"\xff" * 99, b"[" * 50_000, b'{"op":"display","data":{"text/plain":1e999}}', b'{"op":"display","data":[[]],"metadata":7}', b'{"op":"error","traceback":{}}', b'{"op":"input","count":-5}'): sock.send(packet(body))
print("still here")`,
    /still here\n$/,
  ],
  [
    'an empty packet',
    'empty packet',
    py`${CHANNEL}
sock.send(b""); time.sleep(5)`,
    DIES,
  ],
  [
    'shutdown of the channel',
    'shutdown(2)',
    py`${CHANNEL}
sock.shutdown(socket.SHUT_RDWR); time.sleep(5)`,
    DIES,
  ],
  [
    'descriptors for the supervisor',
    'SCM_RIGHTS',
    py`${CHANNEL}
for _ in range(300): err(socket.send_fds, sock, [packet({"op": "clear"})], [0, 1, 2] * 20)
print("still here")`,
    /still here\n$/,
  ],
  [
    'urgent signal by a socket',
    'F_SETOWN',
    py`
import fcntl
r, w = os.pipe(); said = []
for owner in (1, os.getppid()):
    fcntl.fcntl(r, 10, 9); said.append(err(fcntl.fcntl, r, fcntl.F_SETOWN, owner)); fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK); os.write(w, b"x")
time.sleep(0.3); print(os.getppid() != 1, [os.path.exists(f"/proc/{p}") for p in (1, os.getppid())])`,
    'True [True, True]',
  ],
  [
    'orphans for process 1',
    'reparented children',
    py`
sh("for i in {1..400}; do ( true & ); done")
time.sleep(0.5); dead = 0
for p in filter(str.isdigit, os.listdir("/proc")):
    try: dead += open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError: pass
print(dead < 20)`,
    'True',
  ],
  [
    'full pipe behind descriptor 1',
    'pipe that is never read to its end',
    py`
import fcntl
w = os.dup(1); fcntl.fcntl(w, fcntl.F_SETFL, fcntl.fcntl(w, fcntl.F_GETFL) | os.O_NONBLOCK); n = 0
try:
    for _ in range(2000): n += os.write(w, b"P" * 4096)
except BlockingIOError: pass
fcntl.fcntl(w, fcntl.F_SETFL, fcntl.fcntl(w, fcntl.F_GETFL) & ~os.O_NONBLOCK)
print(n > 0)`,
    /^P+/,
  ],
  [
    'lease on a file',
    'F_SETLEASE',
    py`
import fcntl
signal.signal(signal.SIGIO, signal.SIG_IGN)
fd = os.open("/mnt/data/leased", os.O_CREAT | os.O_RDONLY); print(err(fcntl.fcntl, fd, 1024, fcntl.F_WRLCK))`,
    'ok',
    { after: { code: py`os.close(fd); os.unlink("/mnt/data/leased"); print("works")`, stdout: 'works' } },
  ],
  [
    'swap while files are collected',
    'rename(2) race',
    py`
if os.fork() == 0:
    os.setsid(); end = time.time() + 1.5; open("/mnt/data/race", "w").write("mine"); os.symlink("/etc/passwd", "/mnt/data/race2")
    while time.time() < end: libc.renameat2(-100, b"/mnt/data/race", -100, b"/mnt/data/race2", 2)
    for n in ("race", "race2"): os.unlink("/mnt/data/" + n)
    os._exit(0)
time.sleep(0.3); print("done")`,
    'done',
  ],
  [
    'counts of bytes that were never written',
    'counts in the place of output',
    py`${CHANNEL}
for kind in (0x31, 0x32, 0x77, 0):
    for count in (0, 1 << 63, (1 << 64) - 1): sock.send(struct.pack("<BBQ", 0x53, kind, count))
for broken in (b"\x53", b"\x53" * 9, b"\x53" * 40): sock.send(broken)
for count in (-1, 1 << 70, "1", None, [], {}):
    for reason in ("max_display_bytes", "invented", None): sock.send(packet({"op": "omitted", "id": request, "reason": reason, "bytes": count}))
time.sleep(0.2); print("still here")`,
    'still here',
  ],
])
