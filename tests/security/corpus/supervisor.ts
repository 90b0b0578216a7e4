import { DIES, family, RAISES } from '../../../scripts/hostile-programs/program.ts'

const py = String.raw

/** Attacks on the platform inside the sandbox: the control port, inherited descriptors, the kernel channel, the result. */
export const supervisor = family('supervisor', [
  [
    'control socket',
    'connect(2) to the control socket',
    py`print(err(lambda: socket.socket(1).connect("/run/cellblock/control/supervisor.sock")))`,
    'EACCES',
  ],
  ['control socket by descriptor', 'O_PATH', py`print(err(lambda: os.open("/run/cellblock/control", os.O_PATH)))`, 'EACCES'],
  [
    'abstract sockets',
    '/proc/net/unix',
    py`print([l.split()[-1] for l in open("/proc/net/unix").read().splitlines()[1:] if l.split()[-1].startswith("@")])`,
    '[]',
  ],
  [
    'guess an abstract socket',
    'connect(2) to an abstract name',
    py`print({err(lambda n=n: socket.socket(1).connect("\0" + n)) for n in ("supervisor", "cellblock", "kernel", "control", "jupyter", "zygote")})`,
    "{'ECONNREFUSED'}",
  ],
  [
    'inherited descriptors',
    'inherited descriptors',
    py`
seen = sorted({os.readlink(f"/proc/self/fd/{f}").split(":")[0] for f in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{f}")})
print([s for s in seen if not s.startswith(("pipe", "socket", "anon_inode", "/dev/null", "/proc", "/mnt/data", "/home/worker", "/tmp", "/run/worker", "/dev/shm", "/usr"))])`,
    '[]',
  ],
  ['listen to the port of tasks', 'connect(2) over TCP', py`print(err(tcp, "127.0.0.1", 8700))`, 'ENETUNREACH'],
  [
    'supervisor package',
    'verifier loaded as a library',
    py`
import importlib.util, json, secrets
sys.path.insert(0, "/opt/cellblock")
verifier = err(importlib.import_module, "cellblock_supervisor.signing")
from nacl.signing import SigningKey
def ask(method, path, body=b""):
    # As the library reads it, signed with a key of our own.
    s = socket.socket(1); s.settimeout(3); s.connect("/run/cellblock/control/supervisor.sock")
    at, nonce = str(int(time.time() * 1000)), secrets.token_urlsafe(18)
    mark = __import__("base64").urlsafe_b64encode(SigningKey.generate().sign("\n".join(("cellblock-v1", "sbx_guess", method, path, at, nonce)).encode()).signature).decode().rstrip("=")
    s.sendall(f"{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\ncellblock-signature: v1 {at} {nonce} {mark}\r\n\r\n".encode() + body)
    raise KeyError(s.recv(99))
print(verifier, err(ask, "GET", "/health"), err(ask, "PUT", "/executions/exec_forged", json.dumps({"v": 1, "cells": [{"code": "1"}]}).encode()))`,
    'ok EACCES EACCES',
    { aims: ['outcome'] },
  ],
  [
    'path hijack',
    'PATH of a privileged process',
    py`
planted = []
for folder in ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/opt/cellblock", "/mnt/data", "/tmp", "/home/worker", "/run/worker"):
    for n in ("cellblock-sh", "python3-config-x", "id-x"):
        try: fd = os.open(f"{folder}/{n}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o755)
        except OSError: continue
        os.write(fd, b"#!/bin/bash\nid -u >> /mnt/data/hijacked\n"); os.close(fd); planted.append(f"{folder}/{n}")
own = {"/mnt/data", "/tmp", "/home/worker", "/run/worker"}
for n in ("python3", "python", "sh", "bash", "id", "ps", "tar", "kill"):
    for folder in own: open(f"{folder}/{n}", "w").write("#!/bin/bash\nid -u >> /mnt/data/hijacked\n"); os.chmod(f"{folder}/{n}", 0o755)
print(sorted({os.path.dirname(p) for p in planted} - own))
for p in planted: os.unlink(p)
sys.stdout.flush(); time.sleep(0.2)
os._exit(0)`,
    { ...DIES, stdout: '[]\n' },
    {
      aims: ['outcome'],
      // The supervisor has since forked another kernel and collected files, and did not run the planted code.
      after: {
        code: py`
ran = open("/mnt/data/hijacked").read() if os.path.exists("/mnt/data/hijacked") else "nobody"
for d in ("/mnt/data", "/tmp", "/home/worker", "/run/worker"):
    for n in ("python3", "python", "sh", "bash", "id", "ps", "tar", "kill", "hijacked"):
        if os.path.exists(f"{d}/{n}"): os.unlink(f"{d}/{n}")
print(ran)`,
        stdout: 'nobody',
      },
    },
  ],
  [
    'module hijack',
    'import path of a privileged process',
    py`
import site
evil = 'import os\nfd = os.open("/tmp/loaded", os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o666); os.write(fd, (str(os.getuid()) + " " + str(os.getpid()) + chr(10)).encode())\n'
places = ["/mnt/data", "/tmp", "/home/worker", "/run/worker", site.getusersitepackages(), "/opt/cellblock", "/usr/lib/python3/dist-packages", "/usr/local/lib/python3.13/dist-packages"]
planted, names = [], ("sitecustomize.py", "usercustomize.py", "secrets.py", "snapshot.py", "probe.py", "evil.pth")
for folder in places:
    err(os.makedirs, folder)
    for n in names:
        try: fd = os.open(f"{folder}/{n}", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except OSError: continue
        os.write(fd, (evil if n.endswith("py") else "import sys; exec(" + repr(evil) + ")\n").encode()); os.close(fd); planted.append(folder)
foreign = sorted({p for p in planted if p.startswith(("/opt", "/usr"))})
print(foreign)
for p in foreign:
    for n in names: err(os.unlink, f"{p}/{n}")
sys.stdout.flush(); time.sleep(0.2)
os._exit(0)`,
    { ...DIES, stdout: '[]\n' },
    {
      aims: ['outcome'],
      // Another kernel has started since. A planted file that it or its parents loaded would have recorded its user.
      after: {
        code: py`
import glob
ran = {l.split()[0] for l in open("/tmp/loaded")} if os.path.exists("/tmp/loaded") else set()
for d in ("/mnt/data", "/tmp", "/home/worker", "/run/worker", "/home/worker/.local/lib/python3.13/site-packages"):
    for n in ("sitecustomize.py", "usercustomize.py", "secrets.py", "snapshot.py", "probe.py", "evil.pth", "loaded"):
        if os.path.exists(f"{d}/{n}"): os.unlink(f"{d}/{n}")
print(sorted(ran - {str(os.getuid())}))`,
        stdout: '[]',
      },
    },
  ],
  [
    'forged result object',
    '_repr_mimebundle_',
    py`
class Evil(dict):
    def __reduce__(self): return (os.system, ("true",))
    def _repr_mimebundle_(self, **k): return {"text/plain": "x", "__proto__": {"admin": True}, "constructor": {"prototype": {"admin": True}}}
display(Evil()); print("shown")`,
    'shown',
  ],
  [
    'replace the display hook',
    'sys.displayhook',
    py`
old = sys.displayhook
def evil(value): os.write(1, b"mine "); raise RuntimeError("no result for you")
sys.displayhook = get_ipython().displayhook.__class__.__call__ = evil
6 * 7`,
    { status: 'failed' },
    {
      after: {
        code: py`type(get_ipython().displayhook).__call__ = __import__("ipykernel.displayhook").displayhook.ZMQShellDisplayHook.__mro__[1].__call__; print("works")`,
        stdout: 'works',
      },
    },
  ],
  [
    'tampered stdout object',
    'sys.stdout',
    py`
class Loud:
    def write(self, t): raise RuntimeError("no")
    def flush(self): raise RuntimeError("no")
old = sys.stdout; sys.stdout = Loud()
try: print("x")
except RuntimeError: pass
finally: sys.stdout = old
print("ok")`,
    'ok',
  ],
  [
    'lying exception',
    '__str__ that raises',
    py`
class Liar(Exception):
    def __str__(self): raise ValueError("in str")
    __repr__ = __str__
raise Liar()`,
    RAISES(/^(Liar|ValueError)/),
  ],
  [
    'exception with controls in it',
    'control characters in an error',
    py`raise ValueError("\x1b]8;;http://evil\x07\x00 \u202e")`,
    RAISES(/^ValueError/),
  ],
  ['huge exception', 'error of many megabytes', py`raise ValueError("A" * 20_000_000)`, RAISES(/^ValueError/)],
  [
    'recursion as an exception',
    'RecursionError',
    py`
def f(): f()
f()`,
    RAISES(/^RecursionError/),
  ],
  [
    'exit of the kernel loop',
    'ask_exit of IPython',
    py`import IPython; kept = os.getpid(); IPython.get_ipython().ask_exit(); print("not reached")`,
    // It ends the cell like exit(), which succeeds, and neither the loop nor the kernel.
    { status: 'succeeded', stdout: '' },
    { after: { code: py`print(kept == os.getpid())`, stdout: 'True' } },
  ],
  [
    'cancel every task of the loop',
    "tasks of the kernel's event loop",
    py`
import asyncio
for task in asyncio.all_tasks(): task.cancel()
await asyncio.sleep(1)`,
    { status: 'failed' },
  ],
  [
    'stop the loop',
    "loop of the kernel's events",
    py`
import asyncio
asyncio.get_running_loop().stop(); print("stopped")`,
    'stopped',
  ],
])
