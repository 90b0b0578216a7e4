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

const READ = `
print(os.environ["TOKEN"], "TZ" in os.environ, os.getcwd(), pd.get_option("display.max_rows"), mpl.rcParams["lines.linewidth"],
      sys.path[-1], logging.getLogger().level, any("old thing" in str(entry) for entry in warnings.filters))
logging.info("hello")
print(open("/tmp/scratch.txt").read(), open(os.path.expanduser("~/home.txt")).read(), lines.read())
out.write("second"); out.flush(); print(open("/mnt/data/log.txt").read(), database.execute("select x from t").fetchall())`

describe('what code changed besides variables', () => {
  it('is restored in another sandbox', async () => {
    const drawn = (await from.supervisor.run(`${SETUP}\nrandom.seed(5); random.random(); np.random.seed(5); np.random.rand();`)).stdout
    expect((await from.supervisor.run('shell=3; f() { echo "f $1"; }; cd /tmp', { language: 'bash' })).done.outcome).toBe('ok')
    const snapshot = await from.supervisor.call('POST', '/snapshot')
    expect(JSON.parse(snapshot.trailers['cellblock-lost'] ?? 'null')).toEqual([])
    for (const path of ['log.txt', 'rows.db']) {
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
    expect((await to.supervisor.run('echo $shell $PWD; f 1', { language: 'bash' })).stdout).toBe('3 /tmp\nf 1\n')
  })
})
