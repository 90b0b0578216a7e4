import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SUPERVISOR_PROTOCOL } from '../../services/model/sandboxes/sandbox.ts'
import { checkHistory } from './check-history.ts'
import { createWorker } from './harness/worker.ts'
import { startHarness, type Harness } from './harness/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

it('continues an execution across several steps without lost, repeated or twice stored output', async () => {
  const container = await harness.newContainer()
  const job = await harness.accept(container, { lines: 20, pauseMs: 50, imageBytes: 400_000 })
  // The step budget is a tenth of the run time of the code.
  const worker = createWorker({ name: 'short-lived', ports: harness.manualPorts, history: harness.history, stepBudgetMs: 100 })
  for (let message = harness.manualQueue.receive(); message !== undefined; message = harness.manualQueue.receive())
    await worker.handle(message)
  await harness.observe(job)
  const { entries } = harness.history
  // The number of steps depends on the machine's load; the code is submitted once in any case.
  const submissions = entries.filter((entry) => entry.type === 'submitted').map((entry) => entry.isFirst)
  expect(submissions.length).toBeGreaterThan(1)
  expect(submissions).toEqual([true, ...Array(submissions.length - 1).fill(false)])
  expect(entries.filter((entry) => entry.type === 'object' && entry.key.includes('/outputs/'))).toHaveLength(1)
  expect(entries.find((entry) => entry.type === 'observed')).toMatchObject({ status: 'succeeded', stdout: job.stdout })
  expect(checkHistory(entries).violations).toEqual([])
})

describe('a worker of another version that resumes a running execution', () => {
  /** Runs an execution whose sandbox changes to this protocol version after the first step, with a new worker from then on. */
  async function runWithProtocol(protocol: number) {
    const job = await harness.accept(await harness.newContainer(), { lines: 20, pauseMs: 50 })
    const workerOf = (name: string) =>
      createWorker({ name: `${name}-${protocol}`, ports: harness.manualPorts, history: harness.history, stepBudgetMs: 100 })
    let worker = workerOf('before')
    for (let message = harness.manualQueue.receive(); message !== undefined; message = harness.manualQueue.receive()) {
      await worker.handle(message)
      const { sandboxId } = (await harness.reliablePorts.table.executions.get(job.tenant, job.execution)) ?? { sandboxId: null }
      const sandbox = sandboxId === null ? undefined : harness.platform.alive.get(sandboxId)
      if (sandbox === undefined || sandbox.protocol === protocol) continue
      sandbox.protocol = protocol
      worker = workerOf('after')
    }
    await harness.observe(job)
    const seen = harness.history.entries.findLast((entry) => entry.type === 'observed')
    expect(checkHistory(harness.history.entries).violations).toEqual([])
    return { job, seen }
  }

  it('resumes the execution to its end in a sandbox one major version older', async () => {
    const { job, seen } = await runWithProtocol(SUPERVISOR_PROTOCOL - 1)
    expect(seen).toMatchObject({ status: 'succeeded', stdout: job.stdout })
  })

  it.each([
    ['a newer', SUPERVISOR_PROTOCOL + 1],
    ['a two major versions older', SUPERVISOR_PROTOCOL - 2],
  ])('fails the execution as sandbox_lost in a sandbox with %s protocol', async (_, protocol) => {
    const { seen } = await runWithProtocol(protocol)
    expect(seen).toMatchObject({ status: 'failed', reason: 'sandbox_lost' })
  })
})
