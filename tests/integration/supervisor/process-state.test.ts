import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startReadySandbox, type TestSandbox } from './start-sandbox.ts'

let from: TestSandbox
let to: TestSandbox
beforeAll(async () => void ([from, to] = await Promise.all([startReadySandbox(), startReadySandbox()])))
afterAll(() => Promise.all([from[Symbol.asyncDispose](), to[Symbol.asyncDispose]()]))

const SETUP = `
import logging, os, random, sqlite3, sys, warnings
import matplotlib as mpl, numpy as np, pandas as pd
os.environ["TOKEN"] = "abc"; del os.environ["TZ"]
os.makedirs("deep", exist_ok=True); os.chdir("deep")
pd.set_option("display.max_rows", 7); mpl.rcParams["lines.linewidth"] = 9
sys.path.append("/mnt/data/lib")
random.seed(5); random.random(); np.random.seed(5); np.random.rand()
logging.basicConfig(level=logging.INFO, format="%(levelname)s! %(message)s")
warnings.filterwarnings("ignore", category=DeprecationWarning, message="old thing")
open("/tmp/scratch.txt", "w").write("temporary"); open(os.path.expanduser("~/home.txt"), "w").write("home")
out = open("/mnt/data/log.txt", "w"); out.write("first,")
lines = open("/tmp/scratch.txt"); lines.read(6)
database = sqlite3.connect("/mnt/data/rows.db"); database.execute("create table t (x)"); database.execute("insert into t values (1)"); database.commit()
print(random.random(), np.random.rand())`

const OBJECTS = `
import decimal
from functools import lru_cache
np.set_printoptions(precision=2, suppress=True); np.seterr(divide="ignore"); decimal.getcontext().prec = 12; sys.setrecursionlimit(5000)
pd.set_option("display.float_format", lambda x: f"<{x:.1f}>")
class Series:
    @lru_cache(maxsize=7)
    def fib(self, n): return n if n < 2 else self.fib(n - 1) + self.fib(n - 2)
series = Series(); series.fib(9)
@lru_cache
def factorial(n): return n * factorial(n - 1) if n else 1
pd.DataFrame({"a": range(5)}).to_csv("/mnt/data/rows.csv", index=False)
reader = pd.read_csv("/mnt/data/rows.csv", chunksize=2); next(reader)
pd.DataFrame({"a": [1]}).to_excel("/mnt/data/book.xlsx", index=False); book = pd.ExcelFile("/mnt/data/book.xlsx")
memory = sqlite3.connect(":memory:"); memory.row_factory = sqlite3.Row
memory.execute("create table t (x)"); memory.execute("insert into t values (2)"); memory.commit()
app = logging.getLogger("app"); app.setLevel(logging.DEBUG); app.propagate = False; app.addHandler(logging.FileHandler("/mnt/data/app.log"))
import csv, locale, socket, threading
socket.setdefaulttimeout(7); csv.field_size_limit(10_000_000); sys.set_int_max_str_digits(9_000); os.umask(0o027);
class Counter:
    def __init__(self): self.lock, self.count = threading.RLock(), 1
counter = Counter()
get_ipython().ast_node_interactivity = "all"`

const READ_OBJECTS = `
print(np.array([1.23456]), np.geterr()["divide"], decimal.getcontext().prec, sys.getrecursionlimit(), pd.Series([1.0]).to_string())
print(series.fib(9), Series.fib.cache_parameters()["maxsize"], factorial(5), next(reader).a.tolist(), book.sheet_names, dict(memory.execute("select x from t").fetchone()))
logging.getLogger("app").debug("kept"); print(open("/mnt/data/app.log").read().strip(), get_ipython().ast_node_interactivity)
with counter.lock: print(counter.count, socket.getdefaulttimeout(), csv.field_size_limit(), sys.get_int_max_str_digits(), oct(os.umask(0o022)))`

const SHELL_SETUP = `shell=3; f() { echo "f $1"; }; mkdir /tmp/empty; cd /tmp/empty; set -o pipefail; shopt -s nullglob; umask 027; trap 'echo bye' USR1`

const UNSAVED = `
import asyncio, signal, threading
def on_alarm(number, frame): pass
signal.signal(signal.SIGALRM, on_alarm);
def wait(): stop.wait()
stop = threading.Event(); thread = threading.Thread(target=wait, name="waiter", daemon=True); thread.start()
async def tick(): await asyncio.sleep(600)
task = asyncio.create_task(tick(), name="ticker")
from IPython.core.magic import register_line_magic
@register_line_magic
def hello(line): pass
memory.execute("insert into t values (3)");
rows = 1
generator = (i for i in range(3))`

const READ = `
print(os.environ["TOKEN"], "TZ" in os.environ, os.getcwd(), pd.get_option("display.max_rows"), mpl.rcParams["lines.linewidth"],
      sys.path[-1], logging.getLogger().level, any("old thing" in str(entry) for entry in warnings.filters))
logging.info("hello")
print(open("/tmp/scratch.txt").read(), open(os.path.expanduser("~/home.txt")).read(), lines.read())
out.write("second"); out.flush(); print(open("/mnt/data/log.txt").read(), database.execute("select x from t").fetchall())`

describe('what code changed besides variables', () => {
  it('is restored in another sandbox', async () => {
    const drawn = (await from.supervisor.run(`${SETUP}\nrandom.seed(5); random.random(); np.random.seed(5); np.random.rand();`)).stdout
    expect((await from.supervisor.run(SHELL_SETUP, { language: 'bash' })).done.outcome).toBe('ok')
    expect((await from.supervisor.run(OBJECTS)).error).toBeUndefined()
    expect((await from.supervisor.run('print(np.array([1.23456]), np.geterr()["divide"])')).stdout).toBe('[1.23] ignore\n')
    const snapshot = await from.supervisor.call('POST', '/snapshot')
    expect(JSON.parse(snapshot.trailers['cellblock-lost'] ?? 'null')).toEqual([])
    for (const path of ['log.txt', 'rows.db', 'rows.csv', 'book.xlsx']) {
      const file = await from.supervisor.call('GET', `/files/${path}`)
      expect((await to.supervisor.call('PUT', `/files/${path}`, file.body)).status).toBe(200)
    }
    await to.supervisor.call('PUT', '/files/deep/x', 'x')
    const answer = await to.supervisor.call('POST', '/restore', snapshot.body)
    const restored = JSON.parse(answer.body.toString()) as { lost: unknown[] }
    expect(restored.lost).toEqual([])
    expect((await to.supervisor.run('print(random.random(), np.random.rand())')).stdout).toBe(drawn)
    const run = await to.supervisor.run(READ)
    expect(run.stdout).toBe('abc False /mnt/data/deep 7 9.0 /mnt/data/lib 20 True\ntemporary home ary\nfirst,second [(1,)]\n')
    expect(run.text('stderr')).toBe('INFO! hello\n')
    expect((await to.supervisor.run(READ_OBJECTS)).stdout).toBe(
      "[1.23] ignore 12 5000 0   <1.0>\n34 7 120 [2, 3] ['Sheet1'] {'x': 2}\nkept all\n1 7.0 10000000 9000 0o27\n",
    )
    const shell = await to.supervisor.run('echo $shell $PWD $(umask); f 1; trap -p; shopt -q nullglob && set -o | grep pipefail', {
      language: 'bash',
    })
    expect(shell.stdout).toBe("3 /tmp/empty 0027\nf 1\ntrap -- 'echo bye' SIGUSR1\npipefail       \ton\n")
  })
  it('is named with its reason and its line when it cannot be saved', async () => {
    expect((await from.supervisor.run(UNSAVED)).error).toBeUndefined()
    const snapshot = await from.supervisor.call('POST', '/snapshot')
    const lost = JSON.parse(snapshot.trailers['cellblock-lost'] ?? 'null') as readonly { what: string; reason: string }[]
    expect(lost.map(({ what }) => what).toSorted()).toEqual(
      [
        'generator',
        'magic %hello',
        'memory',
        'signal handler SIGALRM',
        'stop',
        'task',
        'task ticker',
        'thread',
        'thread waiter',
      ].toSorted(),
    )
    const reasonOf = (name: string): string => lost.find(({ what }) => what === name)?.reason ?? ''
    expect(reasonOf('generator')).toMatch(/generator.*\. Defined in cell \d+, line 13: generator = \(i for i in range\(3\)\)$/)
    expect(reasonOf('memory')).toContain('commit()')
  })
})
