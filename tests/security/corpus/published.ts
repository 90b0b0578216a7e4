import { family } from '../../../scripts/hostile-programs/program.ts'

const py = String.raw

/** Published escapes and kernel vulnerabilities, each without its harmful part. A vulnerable kernel or engine fails the check. */
export const published = family('published', [
  [
    'dirty pipe CVE-2022-0847',
    'splice(2) into a shared page',
    py`
p = "/mnt/data/readonly"; open(p, "wb").write(b"a" * 4096); os.chmod(p, 0o444); fd = os.open(p, os.O_RDONLY); r, w = os.pipe()
for _ in range(16): os.write(w, b"x" * 4096)
for _ in range(16): os.read(r, 4096)
os.splice(fd, w, 1, offset_src=0); os.write(w, b"EVIL")
print(open(p, "rb").read() == b"a" * 4096); os.close(fd); os.unlink(p)`,
    'True',
  ],
  [
    'dirty cow CVE-2016-5195',
    'race for a private page',
    py`
p = "/mnt/data/cow"; open(p, "wb").write(b"a" * 4096); os.chmod(p, 0o444); fd = os.open(p, os.O_RDONLY)
libc.mmap.restype = ctypes.c_void_p; at = libc.mmap(None, 4096, 1, 2, fd, ctypes.c_long(0)); stop = time.time() + 0.6
def forget():
    while time.time() < stop: libc.madvise(ctypes.c_void_p(at), 4096, 4)
t = threading.Thread(target=forget); t.start()
# Where writing is confined there is nothing to write to, and nothing to race for.
try: mem = os.open("/proc/self/mem", os.O_RDWR)
except PermissionError: mem = -1
while time.time() < stop: err(os.pwrite, mem, b"EVIL", at)
t.join(); print(open(p, "rb").read() == b"a" * 4096); err(os.close, mem); os.close(fd); os.unlink(p)`,
    'True',
  ],
  [
    'leaky vessels CVE-2024-21626',
    'folder that the runtime left open',
    py`
found = []
for fd in range(0, 256):
    for way in (f"/proc/self/fd/{fd}/../../../../..{T.flag}", f"/proc/self/fd/{fd}/..{T.flag}"):
        if readable(way): found.append(way)
print(found, readable(os.getcwd() + "/../../../../.." + T.flag))`,
    '[] False',
    { aims: ['host-file'] },
  ],
  [
    'runtime program CVE-2019-5736',
    '/proc/pid/exe',
    py`
print({err(os.open, f"/proc/{p}/exe", os.O_WRONLY) for p in os.listdir("/proc") if p.isdigit() and os.stat(f"/proc/{p}").st_uid != os.getuid()} - {"ENOENT", "ESRCH"})`,
    "{'EACCES'}",
  ],
  [
    'masked path race CVE-2025-31133',
    'rename(2) in /dev',
    py`print(err(os.rename, "/dev/null", "/dev/old"), err(os.symlink, "/proc/sys/kernel/core_pattern", "/dev/console"), err(os.unlink, "/dev/null"))`,
    /^(E(ACCES|PERM|ROFS) ){2}E(ACCES|PERM|ROFS)\n$/,
  ],
  [
    'label redirect CVE-2025-52881',
    '/proc/self/attr',
    py`print({err(lambda n=n: os.write(os.open(f"/proc/self/attr/{n}", os.O_WRONLY), b"changeprofile unconfined")) for n in ("exec", "current", "apparmor/exec", "apparmor/current")} & {"ok"})`,
    'set()',
  ],
  [
    'shim socket CVE-2020-15257',
    'connect(2) to an abstract name',
    py`
names = {l.split()[-1][1:] for l in open("/proc/net/unix").read().splitlines()[1:] if l.split()[-1].startswith("@")} | {"/containerd-shim/moby/x/shim.sock", "/containerd-shim/k8s.io/x/shim.sock"}
print({err(lambda n=n: socket.socket(1).connect("\0" + n)) for n in names})`,
    "{'ECONNREFUSED'}",
  ],
  [
    'packet ring CVE-2020-14386',
    'AF_PACKET',
    py`print(err(lambda: socket.socket(17, 3, 0x300).setsockopt(263, 5, struct.pack("7I", 4096, 1, 4096, 1, 0, 0, 0))))`,
    'ENETUNREACH',
  ],
  [
    'page cache by the crypto API CVE-2026-31431',
    'AF_ALG',
    py`
def go(): s = socket.socket(38, 5); s.bind(("aead", "authencesn(hmac(sha256),cbc(aes))")); c, _ = s.accept(); os.splice(os.open("/usr/bin/env", os.O_RDONLY), c.fileno(), 4096)
print(err(go))`,
    'ENETUNREACH',
  ],
  [
    'esp and rxrpc CVE-2026-43500',
    'AF_RXRPC',
    py`print(err(socket.socket, 33, 2, 10), err(socket.socket, 15, 3, 2))`,
    'ENETUNREACH ENETUNREACH',
  ],
  [
    'namespaced tables CVE-2024-1086',
    'nf_tables in its own namespace',
    py`
pid = os.fork()
if pid == 0: os._exit(0 if sc(272, 0x50000000) == 0 and err(socket.socket, 16, 3, 12) == "ok" else 7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`,
    '7',
  ],
  [
    'release agent CVE-2022-0492',
    'control groups in its own namespace',
    py`
pid = os.fork()
if pid == 0: os._exit(0 if sc(272, 0x12000000) == 0 and sc(165, b"cgroup\0", b"/tmp\0", b"cgroup\0", 0, b"rdma\0") == 0 else 7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`,
    '7',
  ],
  ['legacy parameters CVE-2022-0185', 'fsconfig(2)', py`print(sc(430, b"ext4\0", 0), sc(431, 3, 1, b"\0", b"A" * 4096, 0))`, 'EPERM EPERM'],
  [
    'watch queue CVE-2022-0995',
    'pipe2(2) as a watch queue',
    py`print(sc(293, ctypes.create_string_buffer(8), 0o200))`,
    /^(EPERM|ENOPKG|EINVAL|ENOSYS)\n$/,
  ],
  ['keyring reference CVE-2016-0728', 'keyctl(2)', py`print({sc(250, 1, b"leak\0") for _ in range(100)})`, "{'EPERM'}"],
  [
    'verifier CVE-2023-2163',
    'bpf(2)',
    py`print(sc(321, 5, ctypes.create_string_buffer(struct.pack("IIQQ", 1, 2, 0, 0) + bytes(112)), 136))`,
    'EPERM',
  ],
  [
    'unprivileged overlay CVE-2023-0386',
    'mount(2)',
    py`print(sc(165, b"overlay\0", b"/tmp\0", b"overlay\0", 0, b"lowerdir=/,upperdir=/tmp,workdir=/tmp\0"))`,
    'EPERM',
  ],
  [
    'tunables CVE-2023-4911',
    'GLIBC_TUNABLES',
    py`
set_ids = sh("find / -xdev -perm /6000 -type f 2>/dev/null"); e = dict(os.environ, GLIBC_TUNABLES="glibc.malloc.mxfast=glibc.malloc.mxfast=" + "A" * 3000)
print(repr(set_ids), subprocess.run(["/usr/bin/id", "-u"], env=e, capture_output=True, text=True).stdout.strip())`,
    /^'' (10001|[2-5]\d{4})\n$/,
  ],
  [
    'page zero CVE-2009-1897',
    'mmap(2) at address 0',
    py`
libc.mmap.restype = ctypes.c_long; print(libc.mmap(ctypes.c_void_p(0), 4096, 3, 0x32, -1, ctypes.c_long(0)), name(ctypes.get_errno()))`,
    '-1 EPERM',
  ],
  [
    'module loader',
    'handler of unknown programs',
    py`
open("/tmp/odd", "wb").write(b"\xff\xff\xff\xff"); os.chmod("/tmp/odd", 0o755)
print(err(os.execv, "/tmp/odd", ["odd"]), err(lambda: open("/proc/sys/kernel/modprobe", "w")))`,
    /^ENOEXEC (EROFS|EACCES|ENOENT)\n$/,
  ],
  [
    'platform API CVE-2020-8558',
    'token and API of a platform',
    py`
print([k for k in os.environ if "KUBERNETES" in k], [p for p in ("/var/run/secrets/kubernetes.io", "/etc/kubernetes", "/var/lib/kubelet") if os.path.exists(p)], err(tcp, "127.0.0.1", 8080), err(tcp, "127.0.0.1", 10250))`,
    '[] [] ENETUNREACH ENETUNREACH',
  ],
])
