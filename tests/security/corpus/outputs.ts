import { family, RAISES } from '../../../scripts/hostile-programs/program.ts'

const py = String.raw
const SHOWN = 'done'

/** Outputs that attack their readers. */
export const outputs = family('outputs', [
  [
    'flood of stdout',
    'flood of sys.stdout',
    py`
for _ in range(64): sys.stdout.write("A" * 1_000_000)`,
    /^A+/,
  ],
  [
    'flood of stderr',
    'flood of sys.stdout',
    py`
for _ in range(64): sys.stderr.write("A" * 1_000_000)
print("done")`,
    SHOWN,
  ],
  [
    'flood of descriptor 1',
    'write(2) to descriptor 1',
    py`
for _ in range(64): os.write(1, b"B" * 65536)`,
    /^B+/,
  ],
  [
    'flood from a grandchild',
    'inherited pipe of a grandchild',
    py`subprocess.run("(head -c 20000000 /dev/zero | tr '\\0' C)", shell=True); print("done")`,
    /C{1000}/,
  ],
  [
    'many displays',
    'flood of displays',
    py`
for i in range(6000): display({"text/plain": str(i)}, raw=True)
print("done")`,
    SHOWN,
  ],
  ['huge bundle', 'bundle beyond the cap', py`display({"text/plain": "x", "image/png": "A" * 30_000_000}, raw=True); print("done")`, SHOWN],
  [
    'deep bundle',
    'nested JSON',
    py`
d = {}; 
for _ in range(900): d = {"a": d}
display({"application/json": d}, raw=True); print("done")`,
    SHOWN,
  ],
  [
    'very deep bundle',
    'nested JSON',
    py`
d = []
for _ in range(100_000): d = [d]
try: display({"application/json": d}, raw=True)
except Exception: pass
print("done")`,
    SHOWN,
  ],
  [
    'bundle of many keys',
    'JSON of many keys',
    py`display({"application/json": {str(i): i for i in range(200_000)}}, raw=True); print("done")`,
    SHOWN,
  ],
  [
    'bundle of another type',
    'values that are no JSON',
    py`
try: display({1: 2, None: object()}, raw=True)
except Exception: pass
print("done")`,
    SHOWN,
  ],
  [
    'numbers that JSON has not',
    'numbers that JSON has not',
    py`display({"application/json": {"a": float("nan"), "b": float("inf"), "c": 10 ** 400}}, raw=True); print("done")`,
    SHOWN,
  ],
  ['lone surrogates', 'lone surrogates', py`print("\ud800 \udfff"); print("done")`, { status: 'succeeded', stdout: /done\n$/ }],
  ['bytes that are no text', 'bytes that are no UTF-8', py`os.write(1, bytes(range(128, 256)) * 4); print("\ndone")`, /done\n$/],
  [
    'terminal escapes',
    'terminal escapes in text',
    py`print("\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b]8;;http://x\x07"); print("done")`,
    /done\n$/,
  ],
  [
    'prototype keys',
    '__proto__ keys',
    py`display({"__proto__": {"polluted": True}, "constructor": 1, "toString": 2, "text/plain": "x"}, raw=True); print("done")`,
    SHOWN,
  ],
  [
    'keys that JavaScript calls',
    'keys that a host language calls',
    py`display({"application/json": {"toJSON": "x", "then": "x", "valueOf": 1, "hasOwnProperty": 1, "length": -1, "$ref": "#"}, "text/plain": "x"}, raw=True); print("done")`,
    SHOWN,
  ],
  [
    'names of objects',
    'internal references in a bundle',
    py`display({"cellblock/ref": {"objectKey": "../../x"}, "text/plain": "x"}, raw=True); print("done")`,
    SHOWN,
  ],
  [
    'html with scripts',
    'active content',
    py`
from IPython.display import HTML
display(HTML("<script>fetch('//evil')</script>")); print("done")`,
    SHOWN,
  ],
  [
    'svg with scripts',
    'active content',
    py`
from IPython.display import SVG
display(SVG("<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>")); print("done")`,
    SHOWN,
  ],
  [
    'clear in a loop',
    'clear_output',
    py`
from IPython.display import clear_output
for _ in range(2000): clear_output(wait=True)
print("done")`,
    /done\n$/,
  ],
  [
    'update of what is not there',
    'update_display_data',
    py`
from IPython.display import update_display
update_display("x", display_id="never"); print("done")`,
    SHOWN,
  ],
  [
    'traceback bomb',
    'exception group',
    py`
try: raise ValueError("x" * 1000)
except ValueError as e:
    for i in range(200): e = ValueError("y" * 1000).with_traceback(e.__traceback__)
    raise ExceptionGroup("many", [e] * 50)`,
    RAISES(/^ExceptionGroup/),
  ],
  ['input without a user', 'input(3) of the kernel', py`input("password: ")`, RAISES(/^(NoKeyboardError|EOFError|RuntimeError)/)],
  [
    'pager',
    'pager of IPython',
    py`
from IPython.core import page
page.page("x" * 10); print("done")`,
    /done\n$/,
  ],
  ['carriage returns', 'carriage returns', py`print("\r".join(str(i) for i in range(100_000))[-10:]); print("done")`, /done\n$/],
  ['null bytes', 'null bytes in text', py`print("a\0b"); print("done")`, 'a\ufffdb\ndone'],
])

/** Files that attack the collector of files. */
export const artifacts = family('artifacts', [
  ['symlink to a secret', 'symlink(2) for the collector', py`os.symlink("/proc/1/environ", "/mnt/data/link.txt"); print("done")`, SHOWN],
  ['symlinked folder', 'symlink(2) for the collector', py`os.symlink("/", "/mnt/data/rootfs"); print("done")`, SHOWN],
  ['symlink to the host flag', 'symlink(2) for the collector', py`os.symlink(T.flag, "/mnt/data/flag.txt"); print("done")`, SHOWN],
  ['hard link', 'link(2)', py`open("/mnt/data/h1", "w").write("x"); os.link("/mnt/data/h1", "/mnt/data/h2"); print("done")`, SHOWN],
  ['fifo', 'mkfifo(3)', py`os.mkfifo("/mnt/data/pipe"); print("done")`, SHOWN],
  ['socket file', 'bind(2) to a path', py`s = socket.socket(1); s.bind("/mnt/data/sock"); print("done")`, SHOWN],
  [
    'sparse giant',
    'ftruncate(2)',
    py`f = open("/mnt/data/sparse", "wb"); print(err(f.truncate, 1 << 40)); f.close(); os.unlink("/mnt/data/sparse")`,
    /^(EFBIG|ok|EINVAL)\n$/,
  ],
  [
    'deep folders',
    'depth of folders',
    py`
d = "/mnt/data"
for i in range(60): d += "/d"; os.mkdir(d)
open(d + "/leaf", "w").write("x"); print("done")`,
    SHOWN,
  ],
  ['name with a newline', 'control characters in a name', py`open("/mnt/data/a\nb", "w").write("x"); print("done")`, SHOWN],
  ['name with escapes', 'control characters in a name', py`open("/mnt/data/\x1b[31mred", "w").write("x"); print("done")`, SHOWN],
  [
    'name against reading direction',
    'reading direction of a name',
    py`open("/mnt/data/\u202egnp.exe", "w").write("x"); print("done")`,
    SHOWN,
  ],
  ['name that is no text', 'name that is no UTF-8', py`open(b"/mnt/data/\xff\xfe", "w").write("x"); print("done")`, SHOWN],
  [
    'name of dots and percent',
    'traversal in a name',
    py`open("/mnt/data/..%2f..%2fetc%2fpasswd", "w").write("x"); open("/mnt/data/..\\..\\x", "w").write("x"); print("done")`,
    SHOWN,
  ],
  [
    'reserved names',
    'names that systems reserve',
    py`[open("/mnt/data/" + n, "w").write("x") for n in ("CON", "nul.txt", "LPT1", "x.", "y ")]; print("done")`,
    SHOWN,
  ],
  [
    'names of uploads',
    'names that the supervisor reserves',
    py`open("/mnt/data/.cellblock-upload-x", "w").write("x"); print("done")`,
    SHOWN,
  ],
  [
    'swap of file and link',
    'rename(2) race',
    py`
import shutil
stop = time.time() + 0.5; n = 0
while time.time() < stop:
    open("/mnt/data/.s1", "w").write("mine"); os.replace("/mnt/data/.s1", "/mnt/data/swap"); os.symlink(T.flag, "/mnt/data/.s2"); os.replace("/mnt/data/.s2", "/mnt/data/swap"); n += 1
print(n > 100)`,
    'True',
  ],
  [
    'unreadable file',
    'mode without rights',
    py`open("/mnt/data/closed", "w").write("x"); os.chmod("/mnt/data/closed", 0); print("done")`,
    SHOWN,
  ],
  ['folder without rights', 'mode without rights', py`os.mkdir("/mnt/data/shut"); os.chmod("/mnt/data/shut", 0); print("done")`, SHOWN],
  [
    'folder that vanishes',
    'rename(2) of the data folder',
    py`print(err(os.rename, "/mnt/data", "/mnt/other"))`,
    /^(EACCES|EROFS|EBUSY|EXDEV)\n$/,
  ],
  [
    'many files',
    'flood of files',
    py`
os.makedirs("/mnt/data/many", exist_ok=True)
for i in range(3000): open(f"/mnt/data/many/{i}", "w").close()
import shutil; shutil.rmtree("/mnt/data/many"); print("done")`,
    SHOWN,
  ],
])
