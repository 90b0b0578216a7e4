import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureSandboxImage } from '../../scripts/setup/sandbox-image.ts'
import { isSuspended } from '../../services/model/containers/container.ts'
import { gvisorOptions } from './gvisor-driver.ts'
import { startSecondEngine, type SecondEngine } from './second-engine.ts'
import { startSuspendingBench, type SuspendingBench } from './suspending-bench.ts'

/** `npm run test:gvisor -- --long` suspends a hundred times. */
const ROUNDS = process.env['CELLBLOCK_LONG_CALLS'] === '1' ? 100 : 3

let engine: SecondEngine
let suspending: SuspendingBench
beforeAll(async () => {
  // It has Node.
  const image = await ensureSandboxImage(() => undefined, { variant: 'standard' })
  const { runtime, checkpoints } = await gvisorOptions()
  if (runtime === undefined || checkpoints === undefined) throw new Error('gVisor is not registered')
  engine = await startSecondEngine({ image, runtime, checkpoints })
  const { docker, dataRoot, engineState } = engine
  suspending = await startSuspendingBench({
    image,
    driver: () => ({ docker, checkpoints: { ...checkpoints, engine: dataRoot, engineState } }),
  })
}, 900_000)
afterAll(async () => {
  await suspending.bench.stop()
  await engine.stop()
}, 300_000)

/** A web server, a training loop, a shell with a job and an open transaction. */
const PROGRAMS = `
import http.server, sqlite3, subprocess, threading, time, urllib.request
import numpy
class Page(http.server.BaseHTTPRequestHandler):
    visits = 0
    def do_GET(self):
        Page.visits += 1
        self.send_response(200)
        self.end_headers()
        self.wfile.write(str(Page.visits).encode())
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
threading.Thread(target=server.serve_forever, daemon=True).start()

weights, steps = numpy.zeros(4), 0
inputs = numpy.random.default_rng(0).normal(size=(200, 4))
targets = inputs @ numpy.array([1.0, 2.0, 3.0, 4.0])
def train():
    global weights, steps
    while True:
        weights = weights - 0.001 * inputs.T @ (inputs @ weights - targets) / len(inputs)
        steps += 1
        time.sleep(0.001)
threading.Thread(target=train, daemon=True).start()

shell = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
shell.stdin.write("sleep 100000 & job=$!; count=0\\n")
shell.stdin.flush()

database = sqlite3.connect("data.db", isolation_level=None)
database.execute("create table rows (value)")
database.execute("begin")
database.execute("insert into rows values (1)")
trained = 0`

const LOOK = `
time.sleep(0.05)
isTraining, trained = steps > trained, steps
visits = urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/").read().decode()
shell.stdin.write("count=$((count+1)); kill -0 $job && echo $count\\n")
shell.stdin.flush()
print(visits, isTraining, shell.stdout.readline().strip(), database.execute("select count(*) from rows").fetchone()[0], database.in_transaction)`

/** A cell ends when nothing is left that keeps a program alive. */
const NODE = `
let ticks = 0, seen = 0, rounds = 0
setInterval(() => { ticks += 1 }, 5).unref()
console.log(ticks)`
const NODE_LOOK = `
await new Promise((resolve) => setTimeout(resolve, 50))
rounds += 1
console.log(rounds, ticks > seen)
seen = ticks`

describe('a web server, a training loop, a Node program, a shell with a job and an open transaction', () => {
  it(
    'survive every suspension, and a restart of the engine while they are suspended',
    async () => {
      const { bench, suspend, runResumed } = suspending
      const { id } = await bench.newContainer()
      await bench.warm()
      expect(await bench.run(id, PROGRAMS)).toMatchObject({ status: 'succeeded', result: { lost: [] } })
      expect(await bench.run(id, NODE, 'javascript')).toMatchObject({ status: 'succeeded', result: { stdout: '0\n' } })
      for (let round = 1; round <= ROUNDS + 1; round++) {
        expect(await suspend(id)).toMatchObject({ state: 'suspended' })
        if (round > ROUNDS) await engine.restart()
        const { result } = await runResumed(id, LOOK)
        expect([round, result?.stdout, result?.lost]).toEqual([round, `${round} True ${round} 1 True\n`, []])
        expect((await bench.run(id, NODE_LOOK, 'javascript')).result).toMatchObject({ stdout: `${round} true\n`, lost: [] })
      }
      expect(isSuspended(await bench.container(id))).toBe(false)
    },
    ROUNDS * 20_000 + 120_000,
  )
})
