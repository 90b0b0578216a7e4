import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import { systemClock } from '../../../services/ports/clock.ts'
import { measure } from '../../../services/model/metrics.ts'
import type { WideEvent } from '../../../services/model/wide-event.ts'
import type { Sandbox, SandboxPhase } from '../../../services/model/sandboxes/sandbox.ts'
import type { ReconcilerDeps } from '../../../services/workers/deps.ts'
import { processDeadLetters } from '../../../services/workers/reconcile/dead-letters.ts'
import { handleTaskStateChange } from '../../../services/workers/reconcile/handle-task-state-change.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { noSandboxes } from '../../support/no-sandboxes.ts'
import { containerRow, executionRow, responseRow, sandboxRow } from '../../support/rows.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

let storage: Storage
let deps: ReconcilerDeps
beforeAll(async () => {
  storage = await startStorage()
  const { table, queue, objects } = storage
  deps = {
    table,
    queue,
    objects,
    signals: createLocalSignals(),
    telemetry: silentTelemetry,
    clock: systemClock,
    driver: noSandboxes,
    poolSizes: {},
    maxStarts: 1,
    costPerSecond: () => 0,
    hibernateAfterMs: 300_000,
    workerId: 'wake-test',
  }
})
afterAll(() => storage.stop())

const TENANT = 'tnt_wake'
const message = (queue: string, body: unknown, messageId = newId('request')) => ({
  messageId,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  eventSourceARN: `arn:aws:sqs:eu-west-1:123456789012:cellblock-test-${queue}-dead`,
})

describe('dead letters', () => {
  it('end the execution that they name, with the reason', async () => {
    const row = executionRow({ id: newId('execution'), tenant: TENANT })
    await deps.table.executions.create(row)
    const body = { v: 1, type: 'execution.step', tenant: TENANT, executionId: row.id, containerId: row.containerId }
    expect(await processDeadLetters(deps, [message('executions', body)])).toEqual({ batchItemFailures: [] })
    expect(await deps.table.executions.get(TENANT, row.id)).toMatchObject({ status: 'failed', reason: 'dead_letter' })
  })

  it('end the response that they name', async () => {
    const row = responseRow({ id: newId('response'), tenant: TENANT })
    await deps.table.responses.create(row)
    await processDeadLetters(deps, [message('turns', { v: 1, type: 'response.step', tenant: TENANT, responseId: row.id })])
    expect(await deps.table.responses.get(TENANT, row.id)).toMatchObject({ status: 'failed', error: { code: 'dead_letter' } })
  })

  it('that cannot be handled yet are returned individually', async () => {
    const held = executionRow({ id: newId('execution'), tenant: TENANT })
    await deps.table.executions.create(held)
    const now = systemClock.now()
    await deps.table.executions.acquireLease({ tenant: TENANT, id: held.id }, { owner: 'another-worker', now, expiresAt: now + 60_000 })
    const body = { v: 1, type: 'execution.step', tenant: TENANT, executionId: held.id, containerId: held.containerId }
    const answer = await processDeadLetters(deps, [message('placements', 'not JSON', 'one'), message('executions', body, 'two')])
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'two' }] })
  })

  it('of an unknown queue are not deleted', async () => {
    const strange = { ...message('turns', '{}', 'strange'), eventSourceARN: 'arn:aws:sqs:eu-west-1:123456789012:other' }
    expect(await processDeadLetters(deps, [strange])).toEqual({ batchItemFailures: [{ itemIdentifier: 'strange' }] })
  })
})

const gone = (sandboxId: string, exitCode = 137) =>
  ({ sandboxId, platformId: 'arn', status: { phase: 'gone', reason: exitCode === 193 ? 'refused' : 'lost', exitCode } }) as const

describe('the end of a sandbox', () => {
  const inState = async (state: SandboxPhase): Promise<string> => {
    const row = sandboxRow({ id: newId('sandbox'), state, image: noSandboxes.images.resolve().reference, createdAt: systemClock.now() })
    await deps.table.sandboxes.create(row)
    return row.id
  }

  it.each(['ready', 'claimed'] as const)('removes its row when it was %s', async (state) => {
    const id = await inState(state)
    await handleTaskStateChange(deps, gone(id))
    expect(await deps.table.sandboxes.get(id)).toBeNull()
  })

  it('emits the failed check of a sandbox that had reported ready, with image and exit code', async () => {
    const events: WideEvent[] = []
    const id = await inState('ready')
    await handleTaskStateChange({ ...deps, telemetry: { emit: (event) => void events.push(event) } }, gone(id, 193))
    expect(events).toContainEqual(
      expect.objectContaining({
        event: 'sandbox_refused',
        sandbox: id,
        image: noSandboxes.images.resolve().reference,
        exit_code: 193,
        check: 'unix_socket_opens',
      }),
    )
    expect(events.flatMap((event) => measure(event)).map(({ name }) => name)).toContain('SandboxRefused')
  })

  it('keeps the row of a failed start, by which the execution learns of it', async () => {
    const id = await inState('starting')
    await handleTaskStateChange(deps, gone(id))
    expect(await deps.table.sandboxes.get(id)).toMatchObject({ state: 'gone', failedStart: { from: expect.any(Number) } })
    await handleTaskStateChange(deps, gone(id))
    expect((await deps.table.sandboxes.get(id))?.state).toBe('gone')
  })

  it('without a row is ignored', async () => {
    await expect(handleTaskStateChange(deps, gone(newId('sandbox')))).resolves.toBeUndefined()
  })
})

describe('a sandbox that the platform takes back', () => {
  const interrupted = (sandboxId: string) => {
    const address = { kind: 'tcp', host: '10.0.0.9', port: 8700 } as const
    return { sandboxId, platformId: 'arn', status: { phase: 'ready', address, isInterrupted: true } } as const
  }
  const created = async (claimedBy: Sandbox['claimedBy']): Promise<string> => {
    const id = newId('sandbox')
    const state = claimedBy === null ? 'ready' : 'claimed'
    const row = sandboxRow({ id, state, claimedBy, image: noSandboxes.images.resolve().reference, createdAt: systemClock.now() })
    await deps.table.sandboxes.create(row)
    return id
  }
  const sentTo = async (id: string): Promise<readonly unknown[]> => {
    const sent: unknown[] = []
    const queue = { ...deps.queue, send: async (...call: readonly unknown[]) => void sent.push(call) }
    await handleTaskStateChange({ ...deps, queue }, interrupted(id))
    return sent
  }

  it('stops when nothing waits in it', async () => {
    const id = await created(null)
    expect(await sentTo(id)).toEqual([])
    expect(await deps.table.sandboxes.get(id)).toBeNull()
  })

  it('hibernates its container, also if that is busy now', async () => {
    const container = containerRow({ tenant: TENANT, id: newId('container') })
    const id = await created({ tenant: TENANT, containerId: container.id })
    await deps.table.containers.create({ ...container, sandboxId: id })
    const sent = await sentTo(id)
    const message = {
      v: 1,
      type: 'container.hibernate',
      tenant: TENANT,
      containerId: container.id,
      idleSince: container.lastActiveAt,
      sandboxId: id,
    }
    expect(sent[0]).toEqual(['executions', message, { group: TENANT }])
    expect(sent.map((call) => ((call as unknown[])[2] as { delaySeconds?: number }).delaySeconds ?? 0)).toEqual([0, 15, 35, 60, 85])
    expect(await deps.table.sandboxes.get(id)).toMatchObject({ state: 'claimed' })
  })

  it('is left alone when its container has another one', async () => {
    const container = containerRow({ tenant: TENANT, id: newId('container') })
    const id = await created({ tenant: TENANT, containerId: container.id })
    await deps.table.containers.create({ ...container, sandboxId: newId('sandbox') })
    expect(await sentTo(id)).toEqual([])
  })
})
