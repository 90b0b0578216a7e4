import { withStores } from '../../support/with-stores.ts'
import { singleImage } from '../../../services/model/containers/images.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { acceptExecution } from '../../../services/operations/executions/accept-execution.ts'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import type { Execution } from '../../../services/model/executions/execution.ts'
import { newId } from '../../../services/model/ids.ts'
import type { WideEvent } from '../../../services/model/wide-event.ts'
import type { RunDeps } from '../../../services/workers/deps.ts'
import { createSandboxLink } from '../../../services/adapters/link/create-sandbox-link.ts'
import { createRunStep } from '../../../services/workers/run/step/run-step.ts'
import { createSupervisorClient } from '../../../services/adapters/supervisor-client/supervisor-client.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { executionRow, sandboxRow } from '../../support/rows.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'
import { doneEvent, sendLines, startStubSupervisor } from '../../support/stub-supervisor.ts'

const tenant = newId('tenant')
const MINUTE_MS = 60_000
let storage: Storage
let sandbox: Awaited<ReturnType<typeof startStubSupervisor>>
let deps: RunDeps
let now = Date.now()
/** True while reads of a container's files fail. Every step reads them after its code has ended. */
let isFailing = true
const events: WideEvent[] = []

beforeAll(async () => {
  storage = await startStorage()
  sandbox = await startStubSupervisor(newId('sandbox'))
  const { files } = storage.table
  const all: typeof files.all = (...of) => (isFailing ? Promise.reject(new Error('The table failed')) : files.all(...of))
  deps = {
    ...storage,
    table: withStores(storage.table, { files: { ...files, all } }),
    signals: createLocalSignals(),
    telemetry: { emit: (event) => void events.push(event) },
    clock: { now: () => now },
    supervisor: createSupervisorClient({ link: createSandboxLink() }),
    workerId: 'failing-steps-test',
    images: singleImage('any'),
    stepBudgetMs: 50_000,
    costPerSecond: () => 0,
  }
})
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]()
  await storage.stop()
})

/** A job that has run in its container's sandbox and created a file. */
async function job(): Promise<{ readonly row: () => Promise<Execution | null>; readonly step: () => Promise<void> }> {
  const { table } = storage
  const { id: containerId } = await createContainer(table, { tenant, subject: null, name: 'x', memoryTier: '1g' }, now)
  const { sandboxId, address, privateKey } = sandbox.session
  await table.sandboxes.remove(sandboxId)
  await table.sandboxes.create(
    sandboxRow({ id: sandboxId, state: 'claimed', claimedBy: { tenant, containerId }, address, privateKey, readyAt: now, dueAt: null }),
  )
  await table.containers.setSandbox(tenant, containerId, { generation: 0, sandboxId, stateLost: null, dueAt: null })
  await table.containers.filesSynced(tenant, containerId, { generation: 1, version: 0 })
  const { id, subject, responseId, source, onError, storeHistory, metadata, publicUrl } = executionRow()
  const deleted = { ...doneEvent(0), deleted: ['gone.txt'] }
  sandbox.on(`PUT /executions/${id}`, sendLines(deleted))
  const wanted = { tenant, containerId, id, subject, responseId, source, timeoutSeconds: 3_600, onError, storeHistory, metadata, publicUrl }
  await acceptExecution(deps, wanted, now)
  const step = createRunStep(deps)
  return {
    row: () => table.executions.get(tenant, id),
    step: () => step({ v: 1, type: 'execution.step', tenant, containerId, executionId: id }),
  }
}

it('a job whose steps all fail ends after five minutes, before its time limit, and its container stays usable', async () => {
  isFailing = true
  const { row, step } = await job()
  await step()
  expect(await row()).toMatchObject({ status: 'running', lease: null, stepsFailSince: now })
  now += 4 * MINUTE_MS
  await step()
  expect(await row()).toMatchObject({ status: 'running' })
  now += 2 * MINUTE_MS
  await step()
  const ended = await row()
  expect(ended).toMatchObject({ status: 'failed', reason: 'dead_letter', result: { lost: [{ what: 'outputs' }] } })
  expect(await storage.table.containers.get(tenant, ended?.containerId ?? '')).toMatchObject({ queue: [] })
  expect(events.filter(({ event }) => event === 'run_step').map(({ detail }) => detail)).toContain('Error: The table failed')
})

it('a job succeeds when a step succeeds after earlier failures', async () => {
  isFailing = true
  const { row, step } = await job()
  await step()
  now += 4 * MINUTE_MS
  await step()
  isFailing = false
  now += 4 * MINUTE_MS
  await step()
  expect(await row()).toMatchObject({ status: 'succeeded' })
})
