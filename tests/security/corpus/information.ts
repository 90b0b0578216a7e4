import { family } from '../../../scripts/hostile-programs/program.ts'

const py = String.raw

/** Information about the host, the account and the operator. */
export const information = family('information', [
  [
    'environment',
    'own environment',
    py`print({k: v for k, v in os.environ.items() if "CANARY" in v or k.startswith(("AWS", "ECS", "CELLBLOCK"))})`,
    '{}',
    { aims: ['host-secret'] },
  ],
  [
    'getenv of libc',
    'own environment',
    py`
libc.getenv.restype = ctypes.c_char_p; print(libc.getenv(b"CELLBLOCK_CANARY_SECRET"))`,
    'None',
    { aims: ['host-secret'] },
  ],
  ['environment of process 1', '/proc/pid/environ', py`print(readable("/proc/1/environ"))`, 'False', { aims: ['host-secret'] }],
  [
    'environment of the parent',
    '/proc/pid/environ',
    py`print(readable(f"/proc/{os.getppid()}/environ"))`,
    'False',
    { aims: ['host-secret'] },
  ],
  [
    'environment of every process',
    '/proc/pid/environ',
    py`
seen = b""
for p in os.listdir("/proc"):
    if p.isdigit():
        try: seen += open(f"/proc/{p}/environ", "rb").read()
        except OSError: pass
print(b"CANARY" in seen, [v for v in seen.split(b"\0") if b"CANARY" in v])`,
    'False []',
    { aims: ['host-secret'] },
  ],
  [
    'environment of a child',
    'own environment',
    py`print([l for l in sh("env").splitlines() if "CANARY" in l])`,
    '[]',
    { aims: ['host-secret'] },
  ],
  [
    'environ pointer',
    'own environment',
    py`
e = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ"); i = 0; found = []
while e[i]: found += [e[i]] if b"CANARY" in e[i] else []; i += 1
print(found)`,
    '[]',
    { aims: ['host-secret'] },
  ],
  [
    'own memory for secrets',
    'search of own memory',
    py`
import re
hits, own = set(), b"CANARY-"
for line in open("/proc/self/maps"):
    a, rest = line.split(" ", 1)
    if "rw-p" not in rest or "vvar" in rest: continue
    start, end = (int(x, 16) for x in a.split("-"))
    if end - start > 64 << 20: continue
    with open("/proc/self/mem", "rb", 0) as f:
        f.seek(start)
        try: hits |= set(re.findall(rb"CELLBLOCK_CANARY_SECRET=([!-~]{20,})", f.read(end - start)))
        except OSError: pass
print(hits)`,
    'set()',
    { aims: ['host-secret'] },
  ],
  [
    'command lines',
    '/proc/pid/cmdline',
    py`
import re
def words(p):
    try: return open(f"/proc/{p}/cmdline").read()
    except OSError: return ""
print(any(re.search("PRIVATE KEY|\\bck_[0-9a-z]{16}|CANARY-[0-9a-f]", words(p)) for p in os.listdir("/proc") if p.isdigit()))`,
    'False',
  ],
  ['hostname', 'gethostname(2)', py`print(socket.gethostname())`, 'sandbox'],
  ['machine id', '/etc/machine-id', py`print(err(lambda: open("/etc/machine-id").read().strip()[0]) in ("ENOENT", "IndexError"))`, 'True'],
  [
    'container id in mounts',
    '/proc/self/cgroup',
    py`
import re
print(re.findall(r"[0-9a-f]{64}", open("/proc/self/cgroup").read()))`,
    '[]',
  ],
  [
    'kernel symbols',
    '/proc/kallsyms',
    py`
lines = open("/proc/kallsyms").read(200_000).splitlines()
print(all(l.startswith("0000000000000000") for l in lines))`,
    'True',
  ],
  [
    'kernel timers',
    '/proc/timer_list',
    py`print(err(lambda: open("/proc/timer_list").read()) if os.path.exists("/proc/timer_list") and open("/proc/timer_list").read(1) else "masked")`,
    /^(masked|EACCES)\n$/,
  ],
  ['scheduler debug', 'debugfs', py`print(err(lambda: open("/sys/kernel/debug/sched/debug").read()) in ("EACCES", "ENOENT"))`, 'True'],
  [
    'firmware',
    '/sys/firmware',
    py`print(err(os.listdir, "/sys/firmware"), os.path.isdir("/sys/firmware/dmi"))`,
    /^(ok|ENOENT|EACCES) False\n$/,
  ],
  [
    'dmi serial',
    '/sys/class/dmi',
    py`print(err(lambda: open("/sys/class/dmi/id/product_uuid").read()) in ("EACCES", "ENOENT"), err(lambda: open("/sys/class/dmi/id/product_serial").read()) in ("EACCES", "ENOENT"))`,
    'True True',
  ],
  [
    'keys of the kernel',
    '/proc/keys',
    py`print(err(lambda: open("/proc/keys").read()) if os.path.exists("/proc/keys") and open("/proc/keys").read(1) else "masked")`,
    /^(masked|EACCES)\n$/,
  ],
  [
    'network connections of the host',
    '/proc/net/tcp',
    py`print(len(open("/proc/net/tcp").read().splitlines()) <= 1, len(open("/proc/net/arp").read().splitlines()) <= 1)`,
    'True True',
  ],
  [
    'resolver of the host',
    '/etc/resolv.conf',
    py`print("ENOENT" if not os.path.exists("/etc/resolv.conf") else "nameserver" in open("/etc/resolv.conf").read())`,
    /^(ENOENT|False|True)\n$/,
  ],
  [
    'public key only',
    'own environment',
    py`print([k for k in ("CELLBLOCK_PUBLIC_KEY", "CELLBLOCK_SANDBOX_ID", "CELLBLOCK_LIMITS") if k in os.environ])`,
    '[]',
  ],
  [
    'build secrets',
    'search of the image',
    py`print(sh("grep -rIl -e 'BEGIN .*PRIVATE KEY' -e 'index-url *=' -e '_authToken' /etc /opt /usr/local/etc /root 2>/dev/null | head -3"))`,
    '',
  ],
  [
    'history of the build',
    'files that builds leave',
    py`print([p for p in ("/root/.bash_history", "/.dockerenv_secret", "/home/worker/.netrc", "/root/.pip", "/etc/pip.conf") if os.path.exists(p)])`,
    '[]',
  ],
  ['time zone', 'tzset(3)', py`print(time.tzname[0], os.environ["TZ"])`, 'UTC UTC'],
  ['kernel version', 'uname(2)', py`print(os.uname().nodename, open("/proc/version").read().startswith("Linux version"))`, 'sandbox True'],
  [
    'kernel command line',
    '/proc/cmdline',
    py`
import re
print(bool(re.search("(?i)password|token|secret|arn:aws", open("/proc/cmdline").read())) if os.path.exists("/proc/cmdline") else False)`,
    'False',
  ],
  [
    'kernel configuration',
    '/proc/config.gz',
    py`
import gzip
print(all(l.startswith(("CONFIG_", "#")) or not l.strip() for l in gzip.open("/proc/config.gz", "rt")) if os.path.exists("/proc/config.gz") else True)`,
    'True',
  ],
  [
    'mounts',
    '/proc/self/mountinfo',
    py`
import re
print(re.findall(r"/home/(?!worker)\S+|/var/lib/docker/volumes|docker\.sock|/root/|secret", open("/proc/self/mountinfo").read()))`,
    '[]',
  ],
  [
    'account',
    '/proc/self/mountinfo',
    py`
import re
text = repr(dict(os.environ)) + "".join(open(f).read() for f in ("/proc/self/mountinfo", "/proc/self/cgroup", "/etc/hosts", "/etc/hostname") if os.path.exists(f))
print(re.findall(r"arn:aws|(?<![\da-f/:.])\d{12}(?![\da-f])|amazonaws", text))`,
    '[]',
  ],
  ['uptime', '/proc/uptime', py`print(float(open("/proc/uptime").read().split()[0]) > 0)`, 'True'],
])
