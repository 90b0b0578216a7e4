import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import type { ExecutionEvent } from '../../../services/model/executions/execution-event.ts'
import { newSandbox } from '../../../services/operations/sandboxes/new-sandbox.ts'
import { OutputAssembler } from '../../../services/model/executions/output-assembler.ts'
import type { SupervisorEnvelope } from '../../../services/ports/supervisor.ts'
import type { SandboxSession } from '../../../services/model/sandboxes/sandbox.ts'
import { LEASE_MS } from '../../../services/jobs/lease.ts'
import { commitResult } from '../../../services/workers/run/step/commit-result.ts'
import { openExecutionLog } from '../../../services/workers/run/stream/execution-log.ts'
import type { RunDeps } from '../../../services/workers/deps.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { crashingWorker, WorkerCrashedError } from '../../support/crashing-worker.ts'
import { executionRow } from '../../support/rows.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'

let storage: Storage
beforeAll(async () => {
  storage = await startStorage()
})
afterAll(() => storage.stop())

const ENVELOPE: SupervisorEnvelope = {
  outcome: 'ok',
  runMs: 1,
  cpuMs: 1,
  peakMemoryBytes: 1,
  outputBytes: 1,
  truncated: [],
  files: [],
  deleted: [],
  skipped: [],
  endedProcesses: 0,
  stateLost: null,
}

/** Commits the result of an execution that printed this much text in its last moment; `ports` may crash. */
async function commit(bytes: number, ports: Pick<RunDeps, 'table' | 'queue' | 'objects'>) {
  const now = Date.now()
  const { tenant } = executionRow()
  const container = await createContainer(storage.table, { tenant, subject: null, name: 'end', memoryTier: '1g' }, now)
  const { id } = executionRow()
  await storage.table.executions.create(executionRow({ tenant, id, containerId: container.id, createdAt: now }))
  const acquired = await storage.table.executions.acquireLease({ tenant, id }, { owner: 'w', now, expiresAt: now + LEASE_MS })
  if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
  await storage.table.executions.commit({ tenant, id, fence: acquired.row.fence }, { status: 'running', startedAt: now })
  const row = { ...acquired.row, status: 'running', startedAt: now } as const
  const common = { ...ports, signals: createLocalSignals(), clock: { now: () => Date.now() }, telemetry: silentTelemetry }
  const deps = { ...common, costPerSecond: () => 0 } as unknown as RunDeps
  const log = await openExecutionLog(deps, row, { isResumed: false, onBroken: () => undefined })
  log.writer.emit({ type: 'stdout', cell: 0, text: 'x'.repeat(bytes) }, 'paced', 0)
  const session = { sandboxId: newSandbox({ memoryTier: '1g', image: 'i', claimedBy: null }, now).id } as unknown as SandboxSession
  const collected = { files: [], lost: [] }
  const run = { row, container, session, assembler: new OutputAssembler([0]), log, envelope: ENVELOPE, collected }
  const cause = await commitResult(deps, { ...run, signal: new AbortController().signal }).catch((error: unknown) => error)
  const logged = await storage.table.events.read<ExecutionEvent>({ kind: 'execution', tenant, id }, 0, 1_000)
  return { cause, logged, ended: await storage.table.executions.get(tenant, id) }
}

const typesOf = (events: readonly ExecutionEvent[] = []): readonly string[] => events.map(({ type }) => type)

/** Around the sizes at which events wait for the row, are written before it, and are written as they come. */
describe.each([1_000, 48_000, 60_000, 250_000])('an execution that printed %i bytes before its end', (bytes) => {
  it('has "done" in its row, in the write that ends it, and not in its log', async () => {
    const { cause, logged, ended } = await commit(bytes, storage)
    expect(cause).toBeUndefined()
    expect(ended).toMatchObject({ status: 'succeeded' })
    expect(typesOf(logged)).not.toContain('done')
    expect(ended?.tailEvents.at(-1)).toMatchObject({ type: 'done', status: 'succeeded', reason: null, at: ended?.endedAt })
    const all = [...logged, ...(ended?.tailEvents ?? [])]
    expect(typesOf(all)).toEqual(['status', 'stdout', 'done'])
    expect(all.map(({ seq }) => seq)).toEqual([1, 2, 3])
  })

  it('says nothing of an end when its worker crashes just before it ends the row', async () => {
    const { cause, logged, ended } = await commit(bytes, crashingWorker(storage, 'executions.commit', 'before').deps)
    expect(cause).toBeInstanceOf(WorkerCrashedError)
    expect(ended).toMatchObject({ status: 'running', tailEvents: [] })
    expect(typesOf(logged)).not.toContain('done')
  })
})
