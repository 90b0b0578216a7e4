import { SendMessageCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acceptExecution } from '../../../services/operations/executions/accept-execution.ts'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import { newId } from '../../../services/model/ids.ts'
import { systemClock } from '../../../services/ports/clock.ts'
import type { WideEvent } from '../../../services/model/wide-event.ts'
import type { ReconcilerDeps } from '../../../services/workers/deps.ts'
import { startWorkers } from '../../../services/entries/local/workers.ts'
import { createSqsConsumer } from '../../../services/adapters/storage/sqs/sqs-consumer.ts'
import { currentOwner } from '../../../services/model/trace.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { sandboxRow } from '../../support/rows.ts'
import { noSandboxes } from '../../support/no-sandboxes.ts'
import { startAwsStorage, type AwsStorage } from '../../emulators/start-aws-storage.ts'

const TENANT = newId('tenant')
const heard: WideEvent[] = []
let storage: AwsStorage
let stop: () => Promise<void>
const attempts = new Map<string, number>()
/** For whom the steps worked. */
const owners = new Set<string>()

beforeAll(async () => {
  storage = await startAwsStorage()
  const deps: ReconcilerDeps = {
    table: storage.table,
    queue: storage.queue,
    objects: storage.objects,
    signals: createLocalSignals(),
    clock: systemClock,
    telemetry: { emit: (event) => void heard.push(event) },
    driver: noSandboxes,
    poolSizes: {},
    maxStarts: 1,
    costPerSecond: () => 0,
    hibernateAfterMs: 300_000,
    workerId: 'dead-letter-test',
  }
  const workers = startWorkers({
    consumer: createSqsConsumer({ client: storage.clients.sqs, ...storage.resources }),
    telemetry: deps.telemetry,
    reconciler: deps,
    backOffSeconds: () => 0,
    steps: {
      turns: async () => undefined,
      placements: async () => undefined,
      // A worker that crashes at every attempt.
      executions: async (message) => {
        const id = message.type === 'execution.step' ? message.executionId : message.containerId
        attempts.set(id, (attempts.get(id) ?? 0) + 1)
        owners.add(currentOwner())
        throw new Error('It always fails')
      },
    },
  })
  stop = () => workers.stop(30_000)
})
afterAll(async () => {
  await stop()
  await storage.stop()
})

describe('a job with only failing steps', () => {
  it('ends failed as dead_letter after five attempts and unblocks the queue of its container', async () => {
    const container = await createContainer(storage.table, { tenant: TENANT, subject: null, name: 'x', memoryTier: '1g' }, Date.now())
    const id = newId('execution')
    await acceptExecution(
      { table: storage.table, queue: storage.queue },
      {
        tenant: TENANT,
        subject: null,
        id,
        containerId: container.id,
        responseId: null,
        source: { kind: 'code', code: '1' },
        timeoutSeconds: 10,
        onError: 'stop',
        storeHistory: true,
        metadata: {},
        publicUrl: 'http://127.0.0.1',
      },
      Date.now(),
    )
    await expect
      .poll(async () => (await storage.table.executions.get(TENANT, id))?.status, { timeout: 90_000, interval: 250 })
      .toBe('failed')
    const row = await storage.table.executions.get(TENANT, id)
    expect(row).toMatchObject({ reason: 'dead_letter', lease: null, dueAt: null })
    expect(row?.result?.lost).toHaveLength(1)
    expect(attempts.get(id)).toBeGreaterThanOrEqual(5)
    expect(owners).toEqual(new Set([TENANT]))
    await expect.poll(async () => (await storage.table.containers.get(TENANT, container.id))?.queue).toEqual([])
  }, 120_000)

  it('releases the sandbox of an idle container whose variables cannot be saved, and reports them lost', async () => {
    const container = await createContainer(storage.table, { tenant: TENANT, subject: null, name: 'x', memoryTier: '1g' }, Date.now())
    const sandbox = sandboxRow({ state: 'claimed', claimedBy: { tenant: TENANT, containerId: container.id }, dueAt: null })
    await storage.table.sandboxes.create(sandbox)
    await storage.table.containers.setSandbox(TENANT, container.id, { generation: 0, sandboxId: sandbox.id, stateLost: null, dueAt: null })
    const message = { v: 1, type: 'container.hibernate', tenant: TENANT, containerId: container.id } as const
    await storage.clients.sqs.send(
      new SendMessageCommand({
        QueueUrl: storage.resources.deadLetterUrls.executions,
        MessageBody: JSON.stringify({ ...message, idleSince: container.lastActiveAt }),
      }),
    )
    await expect
      .poll(() => storage.table.containers.get(TENANT, container.id), { timeout: 30_000 })
      .toMatchObject({ sandboxId: null, stateLost: 'They could not be saved when the container hibernated.' })
    await expect.poll(() => storage.table.sandboxes.get(sandbox.id), { timeout: 30_000 }).toBeNull()
  })

  it('differs from a message without a job, which is reported and dropped', async () => {
    await storage.clients.sqs.send(new SendMessageCommand({ QueueUrl: storage.resources.deadLetterUrls.turns, MessageBody: 'not json' }))
    await expect
      .poll(() => heard.some((event) => event.event === 'dead_letter' && event.outcome === 'unknown_message' && event['queue'] === 'turns'))
      .toBe(true)
  })
})
