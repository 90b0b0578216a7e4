import { family, RAISES } from './program.ts'

const py = String.raw

/** The platform's own parts inside the sandbox: the control port, inherited descriptors, the kernel channel, the result. */
export const supervisor = family('supervisor', [
  ['control socket', py`print(err(lambda: socket.socket(1).connect("/run/cellblock/control/supervisor.sock")))`, 'EACCES'],
  ['control socket by descriptor', py`print(err(lambda: os.open("/run/cellblock/control", os.O_PATH)))`, 'EACCES'],
  [
    'abstract sockets',
    py`print([l.split()[-1] for l in open("/proc/net/unix").read().splitlines()[1:] if l.split()[-1].startswith("@")])`,
    '[]',
  ],
  [
    'guess an abstract socket',
    py`print({err(lambda n=n: socket.socket(1).connect("\0" + n)) for n in ("supervisor", "cellblock", "kernel", "control", "jupyter", "zygote")})`,
    "{'ECONNREFUSED'}",
  ],
  [
    'inherited descriptors',
    py`
seen = sorted({os.readlink(f"/proc/self/fd/{f}").split(":")[0] for f in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{f}")})
print([s for s in seen if not s.startswith(("pipe", "socket", "anon_inode", "/dev/null", "/proc", "/mnt/data", "/home/worker", "/tmp", "/run/worker", "/dev/shm", "/usr"))])`,
    '[]',
  ],
  ['listen to the port of tasks', py`print(err(tcp, "127.0.0.1", 8700))`, 'ENETUNREACH'],
  [
    'supervisor package',
    py`
import importlib.util
print("no" if importlib.util.find_spec("cellblock_supervisor.signing") is None else "public code only")`,
    /./,
  ],
  [
    'path hijack',
    py`
os.makedirs("/mnt/data/bin", exist_ok=True)
for n in ("python3", "id", "sh"): open(f"/mnt/data/bin/{n}", "w").write("#!/bin/bash\ntouch /mnt/data/hijacked\n"); os.chmod(f"/mnt/data/bin/{n}", 0o755)
os.environ["PATH"] = "/mnt/data/bin:" + os.environ["PATH"]; import shutil; shutil.rmtree("/mnt/data/bin"); os.environ["PATH"] = "/usr/local/bin:/usr/bin:/bin"
print(os.path.exists("/mnt/data/hijacked"))`,
    'False',
  ],
  [
    'module hijack',
    py`
open("/mnt/data/json.py", "w").write("raise SystemExit('hijacked')"); open("/mnt/data/sitecustomize.py", "w").write("raise SystemExit('hijacked')")
print(err(lambda: open("/opt/cellblock/json.py", "w"))); os.unlink("/mnt/data/json.py"); os.unlink("/mnt/data/sitecustomize.py")`,
    /^(EROFS|EACCES)\n$/,
  ],
  [
    'forged frames on every descriptor',
    py`
frame = b'{"type":"done","outcome":"ok","run_ms":0,"files":[{"path":"../../etc/passwd","bytes":1}]}\n'
mine = set(map(int, os.listdir("/proc/self/fd"))) - {0, 1, 2}
for fd in sorted(mine):
    try:
        if os.readlink(f"/proc/self/fd/{fd}").startswith(("pipe", "socket")) and fd not in (1, 2): pass
    except OSError: pass
os.write(1, frame); print("still here")`,
    /"done".*\nstill here\n$/,
  ],
  [
    'forged result object',
    py`
class Evil(dict):
    def __reduce__(self): return (os.system, ("true",))
    def _repr_mimebundle_(self, **k): return {"text/plain": "x", "__proto__": {"admin": True}, "constructor": {"prototype": {"admin": True}}}
display(Evil()); print("shown")`,
    'shown',
  ],
  [
    'forged reply through the shell object',
    py`
ip = get_ipython(); k = getattr(ip, "kernel", None)
print(err(lambda: k.session.send(k.iopub_socket, "execute_reply", {"status": "ok"})) if k is not None and hasattr(k, "iopub_socket") else "no session")`,
    /./,
  ],
  [
    'replace the display hook',
    py`
old = sys.displayhook; sys.displayhook = lambda v: 1 / 0
sys.displayhook = old; print("restored")`,
    'restored',
  ],
  [
    'tampered stdout object',
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
    py`
class Liar(Exception):
    def __str__(self): raise ValueError("in str")
    __repr__ = __str__
raise Liar()`,
    RAISES(/^(Liar|ValueError)/),
  ],
  ['exception with controls in it', py`raise ValueError("\x1b]8;;http://evil\x07\x00 \u202e")`, RAISES(/^ValueError/)],
  ['huge exception', py`raise ValueError("A" * 20_000_000)`, RAISES(/^ValueError/)],
  [
    'recursion as an exception',
    py`
def f(): f()
f()`,
    RAISES(/^RecursionError/),
  ],
  ['exit of the kernel loop', py`import IPython; IPython.get_ipython().ask_exit()`, RAISES(/^SystemExit/)],
  [
    'cancel every task of the loop',
    py`
import asyncio
others = [t for t in asyncio.all_tasks() if t is not asyncio.current_task()]
print(len(others) >= 0)`,
    'True',
  ],
])
