import { singleImage } from '../../../services/model/containers/images.ts'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Container } from '../../../services/model/containers/container.ts'
import type { Execution } from '../../../services/model/executions/execution.ts'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import { newId } from '../../../services/model/ids.ts'
import { newSandbox, SANDBOX_START_MS } from '../../../services/operations/sandboxes/new-sandbox.ts'
import { SUPERVISOR_PROTOCOL } from '../../../services/model/sandboxes/sandbox.ts'
import { LinkError } from '../../../services/ports/sandbox-link.ts'
import type { Supervisor } from '../../../services/ports/supervisor.ts'
import { measure } from '../../../services/model/metrics.ts'
import type { WideEvent } from '../../../services/model/wide-event.ts'
import type { RunDeps } from '../../../services/workers/deps.ts'
import { createSandboxLink } from '../../../services/adapters/link/create-sandbox-link.ts'
import { SandboxFinder } from '../../../services/workers/run/sandboxes/sandbox-finder.ts'
import { createSupervisorClient } from '../../../services/adapters/supervisor-client/supervisor-client.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { executionRow } from '../../support/rows.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

const TENANT = newId('tenant')

let storage: Storage
let deps: RunDeps
/** The address at which the supervisor will listen, and its reply to `/health`. */
let port: number
let server: Server
let health: Record<string, unknown>
let asked: number
let sent: string[]

beforeAll(async () => {
  storage = await startStorage()
})
afterAll(() => storage.stop())

beforeEach(async () => {
  asked = 0
  sent = []
  health = { v: 1, state: 'ready', boot_nonce: 'boot', refused: [] }
  server = createServer((_, response) => {
    asked += 1
    response.end(JSON.stringify(health))
  })
  const reserved = createServer().listen(0, '127.0.0.1')
  await once(reserved, 'listening')
  port = (reserved.address() as AddressInfo).port
  reserved.close()
  await once(reserved, 'close')
  const client = createSupervisorClient({ link: createSandboxLink() })
  deps = {
    table: storage.table,
    objects: storage.objects,
    queue: {
      ...storage.queue,
      send: async (_, message) => void sent.push(message.type),
    },
    signals: createLocalSignals(),
    telemetry: silentTelemetry,
    clock: { now: () => Date.now() },
    supervisor: client,
    workerId: 'fresh-address-test',
    images: singleImage('sandbox:1'),
    stepBudgetMs: 50_000,
    costPerSecond: () => 0,
  }
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

/** A container whose sandbox was started at an address without a listener yet. */
async function startedContainer(): Promise<{ container: Container; sandboxId: string }> {
  const created = await createContainer(storage.table, { tenant: TENANT, subject: null, name: 'fresh', memoryTier: '1g' }, Date.now())
  const claimedBy = { tenant: TENANT, containerId: created.id }
  const sandbox = newSandbox({ memoryTier: '1g', image: deps.images.resolve().reference, claimedBy }, Date.now())
  await storage.table.sandboxes.create(sandbox)
  await storage.table.sandboxes.move(
    sandbox.id,
    { from: ['starting'] },
    {
      state: 'claimed',
      address: { kind: 'tcp', host: '127.0.0.1', port },
      readyAt: Date.now(),
    },
  )
  const change = { sandboxId: sandbox.id, stateLost: null, dueAt: null }
  const container = await storage.table.containers.setSandbox(TENANT, created.id, { generation: created.generation, ...change })
  if (container === null) throw new Error('The container moved on.')
  health = { ...health, sandbox_id: sandbox.id }
  return { container, sandboxId: sandbox.id }
}
const execution = (container: Container, change: Partial<Execution> = {}) =>
  executionRow({ tenant: TENANT, containerId: container.id, createdAt: Date.now(), ...change })

describe('a sandbox that the driver reports as ready before its supervisor listens', () => {
  it('receives code only after the supervisor has replied', async () => {
    const { container, sandboxId } = await startedContainer()
    let refused = 0
    const supervisor: Supervisor = {
      ...deps.supervisor,
      health: (address, waitMs, signal) =>
        deps.supervisor.health(address, waitMs, signal).catch((cause: unknown) => {
          if (cause instanceof LinkError && ++refused === 2) server.listen(port, '127.0.0.1')
          throw cause
        }),
    }
    const finder = new SandboxFinder({ ...deps, supervisor })
    expect(await finder.ownAnswering(container)).toBeNull()
    expect(await finder.acquire(container, execution(container))).toMatchObject({ kind: 'live', session: { sandboxId } })
    expect(refused).toBeGreaterThanOrEqual(2)
    expect(sent).toEqual([])
  })

  it('is probed by one worker only, because the row records the first reply', async () => {
    const { container, sandboxId } = await startedContainer()
    server.listen(port, '127.0.0.1')
    await new SandboxFinder(deps).acquire(container, execution(container))
    const probes = asked
    expect((await storage.table.sandboxes.get(sandboxId))?.answeredAt).toEqual(expect.any(Number))
    expect(await new SandboxFinder(deps).ownAnswering(container)).toMatchObject({ sandboxId })
    expect(asked).toBe(probes)
  })

  it('is replaced when its self-test refuses the environment', async () => {
    const { container, sandboxId } = await startedContainer()
    health = { ...health, state: 'refused', refused: ['a sentence', 'memory_is_limited'] }
    server.listen(port, '127.0.0.1')
    const events: WideEvent[] = []
    const telemetry = { emit: (event: WideEvent) => void events.push(event) }
    const acquired = await new SandboxFinder({ ...deps, telemetry }).acquire(container, execution(container))
    // The failed check is emitted, counted as a failed start, and stored until the execution has read it.
    expect(events).toContainEqual(expect.objectContaining({ event: 'sandbox_refused', sandbox: sandboxId, check: 'memory_is_limited' }))
    expect(events.flatMap((event) => measure(event)).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['SandboxRefused', 'SandboxStartFailed']),
    )
    expect(await storage.table.sandboxes.get(sandboxId)).toMatchObject({ state: 'gone', failedStart: { check: 'memory_is_limited' } })
    expect(acquired).toMatchObject({ kind: 'starting', sandboxId: expect.not.stringMatching(sandboxId) })
    expect(sent).toEqual(['sandbox.stop', 'sandbox.place'])
    // No code ran in it, so nothing is reported as lost.
    expect((await storage.table.containers.get(TENANT, container.id))?.stateLost).toBeNull()
  })

  it('ends the execution when starts keep failing', async () => {
    const { container } = await startedContainer()
    health = { ...health, state: 'refused' }
    server.listen(port, '127.0.0.1')
    const old = execution(container, { startsFailSince: Date.now() - SANDBOX_START_MS - 1 })
    expect(await new SandboxFinder(deps).acquire(container, old)).toEqual({ kind: 'failed', check: 'unknown' })
    expect(sent).toEqual(['sandbox.stop'])
  })

  it('does not end an execution that waited long in a queue after a first failed start', async () => {
    const { container } = await startedContainer()
    health = { ...health, state: 'refused' }
    server.listen(port, '127.0.0.1')
    const queued = execution(container, { createdAt: Date.now() - 2 * SANDBOX_START_MS })
    expect(await new SandboxFinder(deps).acquire(container, queued)).toMatchObject({ kind: 'starting' })
    expect(sent).toEqual(['sandbox.stop', 'sandbox.place'])
  })

  it('is started again after one failed start, however late the step is that reads it', async () => {
    const { container, sandboxId } = await startedContainer()
    const from = Date.now() - 3 * SANDBOX_START_MS
    const gone = { state: 'gone', address: null, readyAt: null } as const
    await storage.table.sandboxes.move(sandboxId, { from: ['claimed'] }, { ...gone, failedStart: { from, to: from + 1_000 } })
    const acquired = await new SandboxFinder(deps).acquire(container, execution(container))
    expect(acquired).toMatchObject({ kind: 'starting', failsSince: from })
    expect(sent).toEqual(['sandbox.place'])
  })

  it('is given up after the start limit of the platform', async () => {
    const { container, sandboxId } = await startedContainer()
    const from = Date.now() - 3 * SANDBOX_START_MS
    const gone = { state: 'gone', address: null, readyAt: null } as const
    await storage.table.sandboxes.move(
      sandboxId,
      { from: ['claimed'] },
      { ...gone, failedStart: { from: from + SANDBOX_START_MS, to: Date.now() } },
    )
    expect(await new SandboxFinder(deps).acquire(container, execution(container, { startsFailSince: from }))).toEqual({ kind: 'failed' })
  })

  it('is not confused with another sandbox at the same address', async () => {
    const { container } = await startedContainer()
    health = { ...health, sandbox_id: newId('sandbox') }
    server.listen(port, '127.0.0.1')
    expect(await new SandboxFinder(deps).acquire(container, execution(container))).toMatchObject({ kind: 'starting' })
    expect(sent).toEqual(['sandbox.stop', 'sandbox.place'])
  })
})

describe('the warm pool', () => {
  it('offers no sandbox of another version to a container', async () => {
    const { container } = await startedContainer()
    const free = await storage.table.containers.setSandbox(TENANT, container.id, {
      generation: container.generation,
      sandboxId: null,
      stateLost: null,
      dueAt: null,
    })
    if (free === null) throw new Error('The container moved on.')
    const warm = async (change: object) => {
      const sandbox = {
        ...newSandbox({ memoryTier: '1g', image: deps.images.resolve().reference, claimedBy: null }, Date.now()),
        ...change,
      }
      await storage.table.sandboxes.create(sandbox)
      return sandbox.id
    }
    const address = { kind: 'tcp', host: '127.0.0.1', port }
    const others = [
      await warm({ state: 'ready', address, protocol: SUPERVISOR_PROTOCOL + 1 }),
      await warm({ state: 'ready', address, protocol: SUPERVISOR_PROTOCOL - 1 }),
      await warm({ state: 'ready', address, image: 'sandbox:0' }),
      await warm({ protocol: SUPERVISOR_PROTOCOL + 1 }),
      await warm({ protocol: SUPERVISOR_PROTOCOL - 1 }),
      await warm({ image: 'sandbox:0' }),
    ]
    const acquired = await new SandboxFinder(deps).acquire(free, execution(free))
    expect(acquired).toMatchObject({ kind: 'starting' })
    expect(sent).toEqual(['sandbox.place'])
    for (const id of others) expect((await storage.table.sandboxes.get(id))?.claimedBy).toBeNull()
  })
})
