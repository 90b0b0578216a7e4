import { atMost, percentile, same, type Threshold } from './threshold.ts'
import type { Form } from './harness.ts'
import { inLanes, reportsLostVariables, type TestContainer, type LimitHarness } from './harness.ts'
import type { WireExecution } from '../../support/native-client.ts'

const py = String.raw
const ROUNDS: Record<Form, { readonly interrupted: number; readonly uninterruptible: number }> = {
  short: { interrupted: 4, uninterruptible: 1 },
  long: { interrupted: 100, uninterruptible: 100 },
}
/** The grace period between the interrupt of a cancel and the kill, milliseconds. */
const GRACE_MS = 2_000

/** Ways to be busy. Each prints a line once it runs. */
const LOOPS = [
  py`print("go", flush=True)
while True: pass`,
  py`print("go", flush=True)
time.sleep(3600)`,
  py`print("go", flush=True)
subprocess.run(["sleep", "3600"])`,
  py`print("go", flush=True)
threading.Event().wait()`,
]
/** The number of containers in which uninterruptible code is killed concurrently. */
const LANES: Record<Form, number> = { short: 1, long: 4 }
const UNINTERRUPTIBLE = py`
for s in range(1, 65):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
print("go", flush=True)
while True: pass`

/** Cancels code once it runs. Returns the execution and the time from the request to its end. */
async function cancel(harness: LimitHarness, cell: TestContainer, code: string) {
  const { client } = harness
  const { id } = await client.run(cell.containerId, { code: `import subprocess, threading, time, signal\n${code}` }, 0)
  for await (const { event } of client.events(id)) if (event === 'stdout' || event === 'done') break
  const began = performance.now()
  const ended = client.ended(id)
  await client.json('POST', `/v1/executions/${id}/cancel`, {})
  return { execution: await ended, ms: performance.now() - began }
}

export const interrupts: Threshold = {
  id: 'C-24',
  title: 'interrupt and hard kill',
  async measure(harness: LimitHarness, form: Form) {
    const cell = await harness.shared()
    const { interrupted, uninterruptible } = ROUNDS[form]
    await cell.run('kept = 7')
    const interruptedEnds = []
    for (let round = 0; round < interrupted; round++) interruptedEnds.push(await cancel(harness, cell, LOOPS[round % LOOPS.length] ?? ''))
    const kept = await cell.run('print(kept)')
    const killed: Awaited<ReturnType<typeof cancel>>[] = []
    const after: WireExecution[] = []
    await inLanes(harness, LANES[form], Array.from({ length: uninterruptible }), async (own) => {
      killed.push(await cancel(harness, own, UNINTERRUPTIBLE))
      after.push(await harness.client.run(own.containerId, 'print(1)'))
    })
    return [
      same(
        'interrupted executions that ended cancelled with KeyboardInterrupt and kept their variables',
        interruptedEnds.filter(
          ({ execution }) =>
            execution.status === 'cancelled' && execution.error?.name === 'KeyboardInterrupt' && !reportsLostVariables(execution),
        ).length,
        interrupted,
      ),
      same('variables after all of them', kept.stdout, '7\n'),
      atMost(form, 'interrupt: slowest end', Math.max(...interruptedEnds.map(({ ms }) => ms)), 1_000, 'ms'),
      atMost(
        form,
        'interrupt: median end',
        percentile(
          interruptedEnds.map(({ ms }) => ms),
          0.5,
        ),
        1_000,
        'ms',
      ),
      same(
        'uninterruptible executions that ended cancelled and reported lost variables',
        killed.filter(({ execution }) => execution.status === 'cancelled' && reportsLostVariables(execution)).length,
        uninterruptible,
      ),
      atMost(form, 'uninterruptible: slowest end after the grace', Math.max(...killed.map(({ ms }) => ms)) - GRACE_MS, 2_000, 'ms'),
      same('calls after a kill that worked', after.filter(({ stdout }) => stdout === '1\n').length, uninterruptible),
    ]
  },
}
