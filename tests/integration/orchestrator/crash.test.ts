import { singleImage } from '../../../services/model/containers/images.ts'
import Docker from 'dockerode'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { acceptExecution } from '../../../services/operations/executions/accept-execution.ts'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import type { Container } from '../../../services/model/containers/container.ts'
import type { ExecutionEvent } from '../../../services/model/executions/execution-event.ts'
import { hasEnded, type Execution } from '../../../services/model/executions/execution.ts'
import { newId } from '../../../services/model/ids.ts'
import { LEASE_MS } from '../../../services/jobs/lease.ts'
import { newSandbox } from '../../../services/operations/sandboxes/new-sandbox.ts'
import { systemClock } from '../../../services/ports/clock.ts'
import type { ReconcilerDeps, RunDeps } from '../../../services/workers/deps.ts'
import { dayOf } from '../../../services/model/usage/usage.ts'
import { createDockerDriver } from '../../../services/adapters/drivers/docker/docker-driver.ts'
import { createSandboxLink } from '../../../services/adapters/link/create-sandbox-link.ts'
import { startSandbox } from '../../../services/workers/place/start-sandbox.ts'
import { createRunStep } from '../../../services/workers/run/step/run-step.ts'
import { createSupervisorClient } from '../../../services/adapters/supervisor-client/supervisor-client.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { crashingWorker } from '../../support/crashing-worker.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

const TENANT = newId('tenant')
/** The accepted executions, by id. */
const accepted: string[] = []
const LINES = Array.from({ length: 3 }, (_, i) => `line ${i}\n`).join('')

let storage: Storage
let deps: RunDeps
let placing: ReconcilerDeps
let container: Container
/** Longer than the lease of the crashed worker. */
let ahead = 0

beforeAll(async () => {
  storage = await startStorage()
  const supervisor = createSupervisorClient({ link: createSandboxLink() })
  const driver = createDockerDriver({
    docker: new Docker(),
    images: singleImage(inject('sandboxImage')),
    stage: `crash-test-${process.pid}`,
    supervisor,
    preload: [],
  })
  const common = {
    table: storage.table,
    queue: storage.queue,
    objects: storage.objects,
    signals: createLocalSignals(),
    telemetry: silentTelemetry,
    clock: { now: () => systemClock.now() + ahead },
    workerId: 'crash-test',
  }
  deps = { ...common, supervisor, images: driver.images, stepBudgetMs: 50_000, costPerSecond: () => 0 }
  placing = { ...common, driver, poolSizes: {}, maxStarts: 1, costPerSecond: () => 0, hibernateAfterMs: 300_000 }
  container = await createContainer(storage.table, { tenant: TENANT, subject: null, name: 'crash', memoryTier: '1g' }, Date.now())
  await startSandbox(placing, await poolRow())
})
afterAll(async () => {
  for await (const id of placing.driver.list()) await placing.driver.stop(id)
  await storage.stop()
})

async function poolRow() {
  const sandbox = newSandbox({ memoryTier: '1g', image: deps.images.resolve().reference, claimedBy: null }, Date.now())
  await storage.table.sandboxes.create(sandbox)
  return sandbox
}

async function accept(code: string): Promise<string> {
  const id = newId('execution')
  accepted.push(id)
  await acceptExecution(
    deps,
    {
      tenant: TENANT,
      subject: null,
      id,
      containerId: container.id,
      responseId: null,
      source: { kind: 'code', code },
      timeoutSeconds: 120,
      onError: 'stop',
      storeHistory: true,
      metadata: {},
      publicUrl: 'http://127.0.0.1',
    },
    deps.clock.now(),
  )
  return id
}
const step = (ports: Pick<RunDeps, 'table' | 'queue' | 'objects'>, id: string): Promise<void> =>
  createRunStep({ ...deps, ...ports })({ v: 1, type: 'execution.step', tenant: TENANT, executionId: id, containerId: container.id })

async function ended(id: string): Promise<Execution> {
  const row = await storage.table.executions.get(TENANT, id)
  if (row === null || !hasEnded(row.status)) throw new Error(`${id} has not ended: ${row?.status}`)
  return row
}

const usageOf = ({ result }: Execution): object => ({
  cpuMs: result?.usage.sandboxCpuMs,
  peakMemoryBytes: result?.usage.peakMemoryBytes,
})

/** Accepts an execution, crashes a worker at its nth storage call or its first call of this name, and lets another take over. */
async function crashAt(
  call: number | string,
  when: 'before' | 'after',
): Promise<{ readonly hasCrashed: boolean; readonly at: string | undefined }> {
  const mark = `${when}${call}`
  const id = await accept(
    `runs = globals().get("runs", []) + ["${mark}"]\nfor i in range(3): print("line", i)\nopen("${mark}.txt", "w").write("${mark}")`,
  )
  const worker = crashingWorker(storage, call, when)
  await step(worker.deps, id).catch(() => undefined)
  const at = typeof call === 'string' ? call : worker.calls[call]
  ahead += LEASE_MS + 1_000
  // At most two more messages: one resumes the execution, one finds it ended.
  await step(storage, id)
  await step(storage, id)

  const row = await ended(id)
  expect([at, row.status, row.reason]).toEqual([at, 'succeeded', null])
  expect([at, row.result?.stdout]).toEqual([at, LINES])
  expect([at, row.result?.files.map((file) => file.path)]).toEqual([at, [`${mark}.txt`]])
  expect((await storage.table.containers.get(TENANT, container.id))?.queue, at).toEqual([])
  const events = [
    ...(await storage.table.events.read<ExecutionEvent>({ kind: 'execution', tenant: TENANT, id }, 0, 1_000)),
    ...row.tailEvents,
  ]
  expect([at, events.map((event) => event.seq)]).toEqual([at, events.map((_, index) => index + 1)])
  expect(events.map((event) => (event.type === 'stdout' ? event.text : '')).join(''), at).toBe(LINES)
  expect(events.filter((event) => event.type === 'done')).toHaveLength(1)
  return { hasCrashed: worker.hasCrashed, at }
}

describe('a run worker that crashes', () => {
  it('at any call to table, queue or store is replaced by one that ends the job once, and the code runs once', async () => {
    const deaths: string[] = []
    for (const when of ['before', 'after'] as const) {
      for (let number = 0; ; number++) {
        const { hasCrashed, at } = await crashAt(number, when)
        if (!hasCrashed) break
        deaths.push(`${when} ${at}`)
      }
    }
    expect(deaths.length).toBeGreaterThan(16)
    // The number of calls varies, so a fixed number may miss one. This is the last call, which records usage.
    for (const when of ['before', 'after'] as const) {
      const { hasCrashed, at } = await crashAt('usage.put', when)
      expect(hasCrashed).toBe(true)
      deaths.push(`${when} ${at}`)
    }
    const check = await accept('import collections, json; print(json.dumps(max(collections.Counter(runs).values())), len(runs))')
    await step(storage, check)
    // Each execution is counted once, however often a step was repeated.
    const days = [...new Set([dayOf(Date.now()), dayOf(deps.clock.now())])]
    const used = (await Promise.all(days.map((day) => storage.table.usage.ofDay(TENANT, day)))).flat()
    expect(used.map((record) => record.executionId).toSorted()).toEqual(accepted.toSorted())
    for (const record of used) expect(record).toMatchObject(usageOf(await ended(record.executionId)))
    // Each run appended one marker in the kernel's memory, also where its worker crashed.
    expect((await ended(check)).result?.stdout).toBe(`1 ${deaths.length + 2}\n`)
    const files = (await storage.table.files.all(TENANT, container.id)).filter((file) => file.isCurrent)
    expect(files).toHaveLength(deaths.length + 2)
  }, 300_000)
})
