import { family, RAISES } from './program.ts'

const py = String.raw
const SHOWN = 'done'

/** Output as a weapon against whoever reads it. */
export const outputs = family('outputs', [
  [
    'flood of stdout',
    py`
for _ in range(64): sys.stdout.write("A" * 1_000_000)`,
    /^A+/,
  ],
  [
    'flood of stderr',
    py`
for _ in range(64): sys.stderr.write("A" * 1_000_000)
print("done")`,
    SHOWN,
  ],
  [
    'flood of descriptor 1',
    py`
for _ in range(64): os.write(1, b"B" * 65536)`,
    /^B+/,
  ],
  ['flood from a grandchild', py`subprocess.run("(head -c 20000000 /dev/zero | tr '\\0' C)", shell=True); print("done")`, /C{1000}/],
  [
    'many displays',
    py`
for i in range(6000): display({"text/plain": str(i)}, raw=True)
print("done")`,
    SHOWN,
  ],
  ['huge bundle', py`display({"text/plain": "x", "image/png": "A" * 30_000_000}, raw=True); print("done")`, SHOWN],
  [
    'deep bundle',
    py`
d = {}; 
for _ in range(900): d = {"a": d}
display({"application/json": d}, raw=True); print("done")`,
    SHOWN,
  ],
  [
    'very deep bundle',
    py`
d = []
for _ in range(100_000): d = [d]
try: display({"application/json": d}, raw=True)
except Exception: pass
print("done")`,
    SHOWN,
  ],
  ['bundle of many keys', py`display({"application/json": {str(i): i for i in range(200_000)}}, raw=True); print("done")`, SHOWN],
  [
    'bundle of another type',
    py`
try: display({1: 2, None: object()}, raw=True)
except Exception: pass
print("done")`,
    SHOWN,
  ],
  [
    'numbers that JSON has not',
    py`display({"application/json": {"a": float("nan"), "b": float("inf"), "c": 10 ** 400}}, raw=True); print("done")`,
    SHOWN,
  ],
  ['lone surrogates', py`print("\ud800 \udfff"); print("done")`, { status: 'succeeded', stdout: /done\n$/ }],
  ['bytes that are no text', py`os.write(1, bytes(range(128, 256)) * 4); print("\ndone")`, /done\n$/],
  ['terminal escapes', py`print("\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b]8;;http://x\x07"); print("done")`, /done\n$/],
  [
    'prototype keys',
    py`display({"__proto__": {"polluted": True}, "constructor": 1, "toString": 2, "text/plain": "x"}, raw=True); print("done")`,
    SHOWN,
  ],
  ['names of objects', py`display({"cellblock/ref": {"objectKey": "../../x"}, "text/plain": "x"}, raw=True); print("done")`, SHOWN],
  [
    'html with scripts',
    py`
from IPython.display import HTML
display(HTML("<script>fetch('//evil')</script>")); print("done")`,
    SHOWN,
  ],
  [
    'svg with scripts',
    py`
from IPython.display import SVG
display(SVG("<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>")); print("done")`,
    SHOWN,
  ],
  [
    'clear in a loop',
    py`
from IPython.display import clear_output
for _ in range(2000): clear_output(wait=True)
print("done")`,
    /done\n$/,
  ],
  [
    'update of what is not there',
    py`
from IPython.display import update_display
update_display("x", display_id="never"); print("done")`,
    SHOWN,
  ],
  [
    'traceback bomb',
    py`
try: raise ValueError("x" * 1000)
except ValueError as e:
    for i in range(200): e = ValueError("y" * 1000).with_traceback(e.__traceback__)
    raise ExceptionGroup("many", [e] * 50)`,
    RAISES(/^ExceptionGroup/),
  ],
  ['input from nobody', py`input("password: ")`, RAISES(/^(StdinNotImplementedError|EOFError|RuntimeError)/)],
  [
    'pager',
    py`
from IPython.core import page
page.page("x" * 10); print("done")`,
    /done\n$/,
  ],
  ['carriage returns', py`print("\r".join(str(i) for i in range(100_000))[-10:]); print("done")`, /done\n$/],
  ['null bytes', py`print("a\0b"); print("done")`, 'a\0b\ndone'],
])

/** Files as a weapon against whoever collects them. */
export const artifacts = family('artifacts', [
  ['symlink to a secret', py`os.symlink("/proc/1/environ", "/mnt/data/link.txt"); print("done")`, SHOWN],
  ['symlinked folder', py`os.symlink("/", "/mnt/data/rootfs"); print("done")`, SHOWN],
  ['symlink to the host flag', py`os.symlink(T.flag, "/mnt/data/flag.txt"); print("done")`, SHOWN],
  ['hard link', py`open("/mnt/data/h1", "w").write("x"); os.link("/mnt/data/h1", "/mnt/data/h2"); print("done")`, SHOWN],
  ['fifo', py`os.mkfifo("/mnt/data/pipe"); print("done")`, SHOWN],
  ['socket file', py`s = socket.socket(1); s.bind("/mnt/data/sock"); print("done")`, SHOWN],
  [
    'sparse giant',
    py`f = open("/mnt/data/sparse", "wb"); print(err(f.truncate, 1 << 40)); f.close(); os.unlink("/mnt/data/sparse")`,
    /^(EFBIG|ok|EINVAL)\n$/,
  ],
  [
    'deep folders',
    py`
d = "/mnt/data"
for i in range(60): d += "/d"; os.mkdir(d)
open(d + "/leaf", "w").write("x"); print("done")`,
    SHOWN,
  ],
  ['name with a newline', py`open("/mnt/data/a\nb", "w").write("x"); print("done")`, SHOWN],
  ['name with escapes', py`open("/mnt/data/\x1b[31mred", "w").write("x"); print("done")`, SHOWN],
  ['name against reading direction', py`open("/mnt/data/\u202egnp.exe", "w").write("x"); print("done")`, SHOWN],
  ['name that is no text', py`open(b"/mnt/data/\xff\xfe", "w").write("x"); print("done")`, SHOWN],
  [
    'name of dots and percent',
    py`open("/mnt/data/..%2f..%2fetc%2fpasswd", "w").write("x"); open("/mnt/data/..\\..\\x", "w").write("x"); print("done")`,
    SHOWN,
  ],
  ['reserved names', py`[open("/mnt/data/" + n, "w").write("x") for n in ("CON", "nul.txt", "LPT1", "x.", "y ")]; print("done")`, SHOWN],
  ['names of uploads', py`open("/mnt/data/.cellblock-upload-x", "w").write("x"); print("done")`, SHOWN],
  [
    'swap of file and link',
    py`
import shutil
stop = time.time() + 0.5; n = 0
while time.time() < stop:
    open("/mnt/data/.s1", "w").write("mine"); os.replace("/mnt/data/.s1", "/mnt/data/swap"); os.symlink(T.flag, "/mnt/data/.s2"); os.replace("/mnt/data/.s2", "/mnt/data/swap"); n += 1
print(n > 100)`,
    'True',
  ],
  ['unreadable file', py`open("/mnt/data/closed", "w").write("x"); os.chmod("/mnt/data/closed", 0); print("done")`, SHOWN],
  ['folder without rights', py`os.mkdir("/mnt/data/shut"); os.chmod("/mnt/data/shut", 0); print("done")`, SHOWN],
  [
    'folder that vanishes',
    py`os.rename("/mnt/data", "/mnt/data2") if False else print(err(os.rename, "/mnt/data", "/mnt/other"))`,
    /^(EACCES|EROFS|EBUSY|EXDEV)\n$/,
  ],
  [
    'many files',
    py`
os.makedirs("/mnt/data/many", exist_ok=True)
for i in range(3000): open(f"/mnt/data/many/{i}", "w").close()
import shutil; shutil.rmtree("/mnt/data/many"); print("done")`,
    SHOWN,
  ],
])
