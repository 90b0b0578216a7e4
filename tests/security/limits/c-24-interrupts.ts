import { atMost, percentile, same, type Bar, type Form } from './bar.ts'
import { inLanes, saysLost, type Cell, type Ground } from './ground.ts'
import type { WireExecution } from '../../support/native-client.ts'

const py = String.raw
const ROUNDS: Record<Form, { readonly interrupted: number; readonly deaf: number }> = {
  short: { interrupted: 4, deaf: 1 },
  long: { interrupted: 100, deaf: 100 },
}
/** After a request to cancel, code has this long to heed the interrupt, milliseconds. */
const GRACE_MS = 2_000

/** Ways to be busy; each says when it has begun. */
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
/** Containers in which deaf code is killed at the same time. */
const LANES: Record<Form, number> = { short: 1, long: 4 }
const DEAF = py`
for s in range(1, 65):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
print("go", flush=True)
while True: pass`

/** Cancels code once it has said that it runs; answers how it ended, and how long after the request. */
async function cancel(ground: Ground, cell: Cell, code: string) {
  const { client } = ground
  const { id } = await client.run(cell.containerId, { code: `import subprocess, threading, time, signal\n${code}` }, 0)
  for await (const { event } of client.events(id)) if (event === 'stdout' || event === 'done') break
  const began = performance.now()
  const ended = client.ended(id)
  await client.json('POST', `/v1/executions/${id}/cancel`, {})
  return { execution: await ended, ms: performance.now() - began }
}

export const interrupts: Bar = {
  id: 'C-24',
  title: 'interrupt and hard kill',
  async measure(ground: Ground, form: Form) {
    const cell = await ground.shared()
    const { interrupted, deaf } = ROUNDS[form]
    await cell.run('kept = 7')
    const heeded = []
    for (let round = 0; round < interrupted; round++) heeded.push(await cancel(ground, cell, LOOPS[round % LOOPS.length] ?? ''))
    const kept = await cell.run('print(kept)')
    const dead: Awaited<ReturnType<typeof cancel>>[] = []
    const after: WireExecution[] = []
    await inLanes(ground, LANES[form], Array.from({ length: deaf }), async (own) => {
      dead.push(await cancel(ground, own, DEAF))
      after.push(await ground.client.run(own.containerId, 'print(1)'))
    })
    return [
      same(
        'interrupted ones that ended cancelled with KeyboardInterrupt and their variables kept',
        heeded.filter(
          ({ execution }) => execution.status === 'cancelled' && execution.error?.name === 'KeyboardInterrupt' && !saysLost(execution),
        ).length,
        interrupted,
      ),
      same('variables after all of them', kept.stdout, '7\n'),
      atMost(form, 'interrupt: slowest end', Math.max(...heeded.map(({ ms }) => ms)), 1_000, 'ms'),
      atMost(
        form,
        'interrupt: median end',
        percentile(
          heeded.map(({ ms }) => ms),
          0.5,
        ),
        1_000,
        'ms',
      ),
      same(
        'deaf ones that ended cancelled and said that their variables are lost',
        dead.filter(({ execution }) => execution.status === 'cancelled' && saysLost(execution)).length,
        deaf,
      ),
      atMost(form, 'deaf: slowest end after the grace', Math.max(...dead.map(({ ms }) => ms)) - GRACE_MS, 2_000, 'ms'),
      same('calls after a kill that worked', after.filter(({ stdout }) => stdout === '1\n').length, deaf),
    ]
  },
}
