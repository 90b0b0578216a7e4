import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import type { Execution } from '../../../services/model/executions/execution.ts'
import { dayOf } from '../../../services/model/usage/usage.ts'
import { startRunBench, type RunBench } from '../../support/run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await startRunBench({ image: inject('sandboxImage'), stage: `background-usage-test-${process.pid}` })
})
afterAll(() => bench.stop())

const LEAVES_WORK = `
import subprocess, sys
busy = "import time\\nwhile time.process_time() < 1.5: pass"
work = subprocess.Popen([sys.executable, "-c", busy], start_new_session=True)
`

/** Runs code until the work in the background has ended. */
async function runUntilDone(container: string): Promise<readonly Execution[]> {
  const runs: Execution[] = []
  await expect
    .poll(async () => {
      runs.push(await bench.run(container, 'print(work.poll())'))
      return runs.at(-1)?.result?.stdout
    })
    .toBe('0\n')
  return runs
}

it('counts the processor time of programs that an execution leaves behind, once', async () => {
  const { id } = await bench.newContainer()
  await bench.warm()
  const first = await bench.run(id, LEAVES_WORK)
  const runs = [first, ...(await runUntilDone(id))]
  const sum = (of: (run: Execution) => number | undefined): number => runs.reduce((all, run) => all + (of(run) ?? 0), 0)
  const [own, counted] = [sum((run) => run.result?.usage.cpuMs), sum((run) => run.result?.usage.sandboxCpuMs)]
  expect(counted).toBeGreaterThan(1_500)
  expect(counted - own).toBeGreaterThan(100)
  const records = await bench.storage.table.usage.ofDay(bench.tenant, dayOf(first.createdAt))
  expect(records.reduce((all, { cpuMs }) => all + cpuMs, 0)).toBeCloseTo(counted, 0)
})
