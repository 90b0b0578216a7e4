import { family } from '../../../scripts/hostile-programs/program.ts'

const py = String.raw
const REFUSED = /^(EROFS|EACCES|EPERM)\n$/

/** Reads files outside the sandbox's own. */
export const hostFiles = family('host-files', [
  ['open', 'open(2) of a host path', py`print(readable(T.flag))`, 'False', { aims: ['host-file'] }],
  [
    'cat',
    'open(2) of a host path',
    py`said = sh("cat", T.flag); print(said if "No such file" not in said else "nothing")`,
    'nothing',
    { aims: ['host-file'] },
  ],
  [
    'mmap',
    'mmap(2) of a file',
    py`
import mmap
def go(): f = open(T.flag, "rb"); print(bytes(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)))
print(err(go))`,
    'ENOENT',
    { aims: ['host-file'] },
  ],
  [
    'openat2',
    'openat2(2)',
    py`
fd = sc(437, -100, T.flag.encode() + b"\0", struct.pack("QQQ", 0, 0, 0), 24)
print(fd if isinstance(fd, str) else os.read(fd, 999))`,
    'ENOENT',
    { aims: ['host-file'] },
  ],
  [
    'root of process 1',
    '/proc/pid/root',
    py`print(readable("/proc/1/root" + T.flag), readable(f"/proc/{os.getppid()}/root" + T.flag))`,
    'False False',
    { aims: ['host-file'] },
  ],
  [
    'symlink and read',
    'symlink that is read',
    py`
os.path.lexists("/tmp/l") and os.unlink("/tmp/l"); os.symlink(T.flag, "/tmp/l"); print(readable("/tmp/l"))`,
    'False',
    { aims: ['host-file'] },
  ],
  [
    'sendfile',
    'sendfile(2)',
    py`
def go():
    with open("/tmp/copy", "wb") as out, open(T.flag, "rb") as source: os.sendfile(out.fileno(), source.fileno(), 0, 999)
    print(open("/tmp/copy").read())
print(err(go))`,
    'ENOENT',
    { aims: ['host-file'] },
  ],
  [
    'copy_file_range',
    'copy_file_range(2)',
    py`
def go():
    # Both ends have to lie in one file system.
    with open(T.flag, "rb") as source, open(T.flag + ".copy", "w+b") as out:
        os.copy_file_range(source.fileno(), out.fileno(), 999); out.seek(0); print(out.read())
print(err(go))`,
    'ENOENT',
    { aims: ['host-file'] },
  ],
  [
    'relative climb',
    'climb with dot-dot',
    py`print(readable("/mnt/data/" + "../" * 40 + T.flag.lstrip("/")))`,
    'False',
    { aims: ['host-file'] },
  ],
  [
    'pandas file url',
    'file: URL',
    py`
import pandas
print(err(lambda: print(pandas.read_csv("file://" + T.flag, header=None).to_string())))`,
    'URLError',
    { aims: ['host-file'] },
  ],
  [
    'urllib file url',
    'file: URL',
    py`
import urllib.request
print(err(lambda: print(urllib.request.urlopen("file://" + T.flag).read())))`,
    'URLError',
    { aims: ['host-file'] },
  ],
  [
    'linecache',
    'open(2) of a host path',
    py`import linecache; print(linecache.getline(T.flag, 1) or "nothing")`,
    'nothing',
    { aims: ['host-file'] },
  ],
  [
    'runpy',
    'open(2) of a host path',
    py`
import runpy
print(err(runpy.run_path, T.flag) in ("ENOENT", "FileNotFoundError"))`,
    'True',
  ],
  [
    'shell redirection',
    'open(2) of a host path',
    py`said = sh(f"read -r x < {T.flag}; echo $x"); print(said if "No such file" not in said else "nothing")`,
    'nothing',
    { aims: ['host-file'] },
  ],
  [
    'engine socket',
    "connect(2) to the engine's socket",
    py`
def go(): s = socket.socket(1); s.settimeout(3); s.connect(T.engine); s.sendall(f"GET /version?{T.token} HTTP/1.0\r\n\r\n".encode())
print(err(go))`,
    'ENOENT',
    { aims: ['engine'] },
  ],
  [
    'engine socket at its default paths',
    "connect(2) to the engine's socket",
    py`
def go(path): s = socket.socket(1); s.settimeout(3); s.connect(path); s.sendall(f"GET /{T.token} HTTP/1.0\r\n\r\n".encode())
print({err(go, p) for p in ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock", "/run/crio/crio.sock")})`,
    "{'ENOENT'}",
    { aims: ['engine'] },
  ],
  ['shadow', 'mode bits of a file of root', py`print(readable("/etc/shadow"))`, 'False'],
  ['home of root', 'mode bits of a folder of root', py`print(err(os.listdir, "/root"))`, 'EACCES'],
  [
    'other homes',
    'homes of other users',
    py`print(sorted(os.listdir("/home")), os.readlink("/home/user"))`,
    "['user', 'worker'] /mnt/data",
  ],
  [
    'service account',
    'mounted credentials of a platform',
    py`print([p for p in ("/var/run/secrets", "/run/secrets", "/etc/kubernetes") if os.path.exists(p)])`,
    '[]',
  ],
  [
    'disk of the host',
    'block devices',
    py`print([d for d in os.listdir("/dev") if d.startswith(("sd", "vd", "nvme", "dm-", "loop"))])`,
    '[]',
  ],
  [
    'files left by others',
    'left-over files',
    py`print([f for d in ("/mnt/data", "/dev/shm") for f in os.listdir(d) if "secret" in f])`,
    '[]',
  ],
])

/** Changes files outside the sandbox's own. */
export const foreignWrites = family('foreign-writes', [
  ['root folder', 'open(2) for writing below the read-only root', py`print(err(lambda: open("/evil", "w")))`, REFUSED],
  ['usr bin', 'open(2) for writing below the read-only root', py`print(err(lambda: open("/usr/bin/python3", "r+b")))`, REFUSED],
  ['site packages', 'open(2) for writing below the read-only root', py`import json; print(err(lambda: open(json.__file__, "a")))`, REFUSED],
  [
    'dist packages',
    'open(2) for writing below the read-only root',
    py`import numpy; print(err(lambda: open(numpy.__file__, "a")))`,
    REFUSED,
  ],
  [
    'supervisor code',
    'open(2) for writing below the read-only root',
    py`print(err(lambda: open("/opt/cellblock/cellblock_supervisor/signing.py", "a")))`,
    REFUSED,
  ],
  ['passwd', 'open(2) for writing below the read-only root', py`print(err(lambda: open("/etc/passwd", "a")))`, REFUSED],
  ['preload list', 'open(2) for writing below the read-only root', py`print(err(lambda: open("/etc/ld.so.preload", "w")))`, REFUSED],
  [
    'python start file',
    'open(2) for writing below the read-only root',
    py`print(err(lambda: open("/usr/lib/python3/dist-packages/evil.pth", "w")))`,
    REFUSED,
  ],
  ['hosts file', 'open(2) for writing below the read-only root', py`print(err(lambda: open("/etc/hosts", "a")))`, REFUSED],
  ['unlink a library', 'unlink(2)', py`print(err(os.unlink, "/usr/local/bin/python"))`, REFUSED],
  ['rename over a program', 'rename(2)', py`print(err(os.rename, "/usr/bin/env", "/usr/bin/evil"))`, REFUSED],
  ['change mode', 'chmod(2)', py`print(err(os.chmod, "/opt/cellblock", 0o777))`, REFUSED],
  ['touch times', 'utimensat(2)', py`print(err(os.utime, "/usr/bin/env"))`, REFUSED],
  ['truncate by path', 'truncate(2)', py`print(err(os.truncate, "/usr/bin/env", 0))`, REFUSED],
  ['extended attribute', 'setxattr(2)', py`print(err(os.setxattr, "/usr/bin/env", "user.x", b"1"))`, REFUSED],
  [
    'control folder',
    'mode bits of the control folder',
    py`print(err(os.listdir, "/run/cellblock"), err(lambda: open("/run/cellblock/x", "w")))`,
    'EACCES EACCES',
  ],
  ['sysctl', '/proc/sys', py`print(err(lambda: open("/proc/sys/vm/overcommit_memory", "w")))`, REFUSED],
  ['sysrq', '/proc/sysrq-trigger', py`print(err(lambda: open("/proc/sysrq-trigger", "w")) in ("ENOENT", "EROFS", "EACCES"))`, 'True'],
  ['sys writes', 'sysfs', py`print(err(lambda: open("/sys/kernel/uevent_helper", "w")) in ("EACCES", "EROFS", "ENOENT"))`, 'True'],
  [
    'cgroup limits',
    'cgroup file system',
    py`print(err(lambda: open("/sys/fs/cgroup/memory.max", "w")) in ("EACCES", "EROFS", "ENOENT"))`,
    'True',
  ],
  [
    'binfmt',
    'binfmt_misc',
    py`print(err(lambda: open("/proc/sys/fs/binfmt_misc/register", "w")) in ("EACCES", "EROFS", "ENOENT"))`,
    'True',
  ],
  ['hard link to a system file', 'link(2)', py`print(err(os.link, "/usr/bin/env", "/tmp/env"))`, /^(EXDEV|EPERM)\n$/],
  ['write through own exe', '/proc/self/exe', py`print(err(lambda: open("/proc/self/exe", "wb")))`, /^(EROFS|EACCES|ETXTBSY)\n$/],
])

/** Device nodes and special files. */
export const devices = family('devices', [
  ['mknod of a disk', 'mknod(2)', py`print(err(os.mknod, "/tmp/disk", 0o60666, os.makedev(8, 0)))`, 'EPERM'],
  ['mknod of memory', 'mknod(2)', py`print(err(os.mknod, "/mnt/data/mem", 0o20666, os.makedev(1, 1)))`, 'EPERM'],
  [
    'kernel memory',
    'node of a driver',
    py`print(err(lambda: open("/dev/mem", "rb")), err(lambda: open("/dev/kmem", "rb")))`,
    'ENOENT ENOENT',
  ],
  [
    'kcore',
    '/proc/kcore',
    py`print(err(lambda: open("/proc/kcore", "rb").read(16)) if os.path.exists("/proc/kcore") and open("/proc/kcore", "rb").read(1) else "masked")`,
    /^(masked|EACCES|EPERM)\n$/,
  ],
  ['kvm', 'node of a driver', py`print(err(lambda: open("/dev/kvm")))`, 'ENOENT'],
  ['fuse', 'node of a driver', py`print(err(lambda: open("/dev/fuse")))`, 'ENOENT'],
  ['tun', 'node of a driver', py`print(err(lambda: open("/dev/net/tun")))`, 'ENOENT'],
  ['loop control', 'node of a driver', py`print(err(lambda: open("/dev/loop-control")))`, 'ENOENT'],
  ['kernel log', '/dev/kmsg', py`print(err(lambda: open("/dev/kmsg")), err(lambda: open("/proc/kmsg")))`, /^ENOENT (EACCES|EPERM)\n$/],
  [
    'input devices',
    'node of a driver',
    py`print(os.path.exists("/dev/input"), os.path.exists("/dev/snd"), os.path.exists("/dev/dri"))`,
    'False False False',
  ],
  [
    'vhost',
    'node of a driver',
    py`print([d for d in ("vhost-net", "vhost-vsock", "vsock", "vfio", "userfaultfd", "autofs") if os.path.exists("/dev/" + d)])`,
    '[]',
  ],
  [
    'every device node',
    'list of /dev',
    py`
import stat
print(sorted(d for d in os.listdir("/dev") if stat.S_ISCHR(os.lstat("/dev/" + d).st_mode) or stat.S_ISBLK(os.lstat("/dev/" + d).st_mode)))`,
    "['full', 'null', 'random', 'tty', 'urandom', 'zero']",
  ],
  [
    'new pseudo terminal',
    'pseudo terminal',
    py`print(err(lambda: [os.close(f) for f in os.openpty()]))`,
    /^(ok|EACCES|ENOENT|FileNotFoundError|EPERM)\n$/,
  ],
  ['console', 'node of a driver', py`print(os.path.exists("/dev/console"))`, 'False'],
])
