import { family } from '../../../scripts/hostile-programs/program.ts'

const py = String.raw

/** Python's ways around a language-level sandbox. All work, and none reaches anything outside. */
export const language = family('language', [
  [
    'subclasses',
    'object.__subclasses__',
    py`print([c for c in object.__subclasses__() if c.__name__ == "Popen" or c.__name__ == "_wrap_close"] != [] and err(tcp, T.gateway, T.port))`,
    'ENETUNREACH',
    { aims: ['tcp'] },
  ],
  [
    'frame globals',
    'frame objects',
    py`print(err(sys._getframe(0).f_globals["tcp"], T.gateway, T.port))`,
    'ENETUNREACH',
    { aims: ['tcp'] },
  ],
  [
    'code object',
    'function.__code__',
    py`
f = (lambda: 0); f.__code__ = (lambda: __import__("socket").socket(2, 2).sendto(T.token.encode(), (T.gateway, T.port))).__code__; print(err(f))`,
    'ENETUNREACH',
    { aims: ['udp'] },
  ],
  ['ctypes call', 'ctypes', py`print(libc.socket(2, 1, 0), name(ctypes.get_errno()))`, '-1 ENETUNREACH'],
  [
    'machine code',
    'executable mapping',
    py`
import mmap
code = bytes.fromhex("b829000000bf02000000be01000000" "31d2" "0f05" "c3")
page = mmap.mmap(-1, 4096, prot=7); page.write(code)
print(ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())`,
    '-101',
  ],
  [
    'machine code with int 0x80',
    'int 0x80',
    py`
import mmap
code = b"\x53\xb8\x67\x01\x00\x00\xbb\x02\x00\x00\x00\xb9\x01\x00\x00\x00\x31\xd2\xcd\x80\x5b\xc3"
page = mmap.mmap(-1, 4096, prot=7); page.write(code); pid = os.fork()
if pid == 0: os._exit(-ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
status = os.waitpid(pid, 0)[1]; print("refused" if os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == errno.ENOSYS else status)`,
    'refused',
  ],
  [
    'import machinery',
    'importlib specs',
    py`
import importlib.machinery, importlib.util
m = importlib.util.module_from_spec(importlib.machinery.ModuleSpec("_socket", importlib.machinery.BuiltinImporter)) if "_socket" in sys.builtin_module_names else __import__("_socket")
print(err(m.socket, 2, 1) if hasattr(m, "socket") else err(socket.socket))`,
    'ENETUNREACH',
  ],
  [
    'audit hook',
    'sys.addaudithook',
    py`
seen = []; sys.addaudithook(lambda e, a: seen.append(e) if e.startswith("socket") else None)
print(err(tcp, T.gateway, T.port), "socket.__new__" in seen)`,
    'ENETUNREACH True',
    { aims: ['tcp'] },
  ],
  [
    'overwrite a builtin',
    'builtins',
    py`
import builtins; old = builtins.print; builtins.print = lambda *a, **k: old("replaced"); print("x"); builtins.print = old`,
    'replaced',
  ],
  [
    'gc objects of others',
    'gc.get_objects',
    py`
import gc
print(any(str(type(o).__module__).startswith("cellblock_supervisor.signing") for o in gc.get_objects()))`,
    'False',
  ],
  ['modules of the supervisor', 'sys.modules', py`print([m for m in sys.modules if "signing" in m and "cellblock" in m])`, '[]'],
  [
    'pickle that calls',
    'pickle',
    py`
import pickle
class P:
    def __reduce__(self): return (eval, (f"(lambda m: m.err(m.tcp, {T.gateway!r}, {T.port}))(__import__('__main__'))",))
print(pickle.loads(pickle.dumps(P())))`,
    'ENETUNREACH',
    { aims: ['tcp'] },
  ],
  [
    'numpy object array',
    'numpy object arrays',
    py`
import numpy, pickle, io
class P:
    def __reduce__(self): return (os.getpid, ())
f = io.BytesIO(); numpy.save(f, numpy.array([P()], dtype=object), allow_pickle=True); f.seek(0)
print(err(numpy.load, f), numpy.load(io.BytesIO(f.getvalue()), allow_pickle=True)[0] == os.getpid())`,
    'ValueError True',
  ],
  [
    'subinterpreter',
    'subinterpreters',
    py`
import _interpreters as i
x = i.create(); print(i.exec(x, f"import socket\ntry: socket.socket()\nexcept OSError as e:\n    assert e.errno == 101\n")); i.destroy(x)`,
    'None',
  ],
  [
    'fork server',
    'multiprocessing',
    py`
import multiprocessing as m
q = m.get_context("fork").Queue(); p = m.get_context("fork").Process(target=lambda: q.put(err(tcp, T.gateway, T.port))); p.start(); print(q.get(timeout=10)); p.join()`,
    'ENETUNREACH',
    { aims: ['tcp'] },
  ],
  ['shell magic', 'shell escapes of IPython', py`r = get_ipython().getoutput("id -u"); print(r[0])`, /^(10001|[2-5]\d{4})\n$/],
])
