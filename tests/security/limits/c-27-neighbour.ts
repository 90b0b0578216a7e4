import { atMost, percentile, type Threshold, type Finding } from './threshold.ts'
import type { Form } from './harness.ts'
import { timed, until, type TestContainer, type LimitHarness } from './harness.ts'

const py = String.raw
const JOBS: Record<Form, number> = { short: 5, long: 200 }
/** Before them the server optimizes its code, which slows down jobs alone as much as a neighbour would. */
const WARM_UP: Record<Form, number> = { short: 0, long: 500 }

/** The neighbour's job: a short computation. */
const JOB = py`print(sum(i * i for i in range(20_000)))`

/** Resource bombs that run until they are cancelled. */
const BOMBS: Readonly<Record<string, string>> = {
  fork: py`
while True:
    try: os.fork()
    except OSError: pass`,
  processor: py`
for _ in range(4):
    if os.fork() == 0:
        while True: pass
while True: pass`,
  memory: py`
import mmap
while True:
    m = mmap.mmap(-1, 512 << 20)
    for i in range(0, len(m), 4096): m[i] = 1
    m.close()`,
  disk: py`
while True:
    with open("/tmp/x", "wb", buffering=0) as f:
        try:
            while True: f.write(bytes(1 << 20))
        except OSError: pass
    os.unlink("/tmp/x")`,
  output: py`
block = "x" * (1 << 16)
while True: sys.stdout.write(block)`,
  threads: py`
def spin():
    while True: pass
for _ in range(64): threading.Thread(target=spin, daemon=True).start()
while True: time.sleep(1)`,
}

async function jobs(cell: TestContainer, count: number): Promise<readonly number[]> {
  const times: number[] = []
  for (let job = 0; job < count; job++) times.push((await timed(() => cell.run(JOB))).ms)
  return times
}

async function compareWithBomb(harness: LimitHarness, neighbour: TestContainer, name: string, form: Form): Promise<Finding> {
  const bomber = await harness.cell()
  // Measure alone before and after, so that other load affects both figures.
  const before = await jobs(neighbour, Math.ceil(JOBS[form] / 2))
  const code = `import os, sys, time, threading\n${BOMBS[name]}`
  const { id } = await harness.client.run(bomber.containerId, { code, timeout_seconds: 3_600 }, 0)
  for await (const { event, data } of harness.client.events(id)) if (event === 'status' && data['status'] === 'running') break
  const together = percentile(await jobs(neighbour, JOBS[form]), 0.95)
  await harness.client.json('POST', `/v1/executions/${id}/cancel`, {})
  await bomber.remove()
  await until(async () => !(await bomber.isThere()), 60_000)
  const solo = percentile([...before, ...(await jobs(neighbour, Math.ceil(JOBS[form] / 2)))], 0.95)
  const finding = atMost(form, `${name}: p95 with the bomb over p95 alone`, together / solo, 2.5, '×')
  return { ...finding, value: `${finding.value} (${Math.round(together)} over ${Math.round(solo)} ms)` }
}

export const neighbour: Threshold = {
  id: 'C-27',
  title: 'neighbours of a bomb',
  async measure(harness: LimitHarness, form: Form) {
    const cell = await harness.shared()
    const names = Object.keys(BOMBS)
    const findings: Finding[] = []
    await jobs(cell, WARM_UP[form])
    for (const name of form === 'short' ? names.slice(0, 1) : names) findings.push(await compareWithBomb(harness, cell, name, form))
    return findings
  },
}
