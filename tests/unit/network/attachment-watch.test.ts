import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createRemoteEnforcer, readSealingKey } from '../../../services/adapters/gateway/remote-gateway.ts'
import type { Container } from '../../../services/model/containers/container.ts'
import { newId } from '../../../services/model/ids.ts'
import type { NetworkPolicy } from '../../../services/model/network/policy.ts'
import { policyOf } from '../../../services/model/network/secret.ts'
import type { SandboxSession } from '../../../services/model/sandboxes/sandbox.ts'
import { systemClock } from '../../../services/ports/clock.ts'
import type { NetworkAttachment } from '../../../services/ports/network-gateway.ts'
import { AttachmentWatch } from '../../../services/workers/gateway/attachment-watch.ts'
import { GatewayLease } from '../../../services/workers/gateway/gateway-lease.ts'
import { containerRow, sandboxRow, T0 } from '../../support/rows.ts'
import { ATTACHMENT } from '../../support/start-proxy.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'

const ALLOWED: NetworkPolicy = { allow: [{ host: 'a.example.com' }], presets: [] }
const OTHER: NetworkPolicy = { allow: [{ host: 'b.example.com' }], presets: [] }

let storage: Storage
beforeAll(async () => void (storage = await startStorage()))
afterAll(() => storage.stop())

/** A process that is the gateway, up to the connections themselves. */
function startWatch() {
  const attached = new Map<string, NetworkAttachment>()
  const opened: string[] = []
  const watch = new AttachmentWatch({
    table: storage.table,
    supervisor: { openNetwork: async ({ sandboxId }) => void opened.push(sandboxId) },
    gateway: {
      attach: (attachment) => void attached.set(attachment.containerId, attachment),
      detach: (containerId) => void attached.delete(containerId),
    },
    certificate: 'certificate',
    attachmentOf: (...parts) => started.attachmentOf(...parts),
  })
  const started = {
    ...{ attached, opened, watch },
    attachmentOf: async (container: Container, session: SandboxSession): Promise<NetworkAttachment | null> => ({
      ...ATTACHMENT,
      ...{ tenant: container.tenant, containerId: container.id, session, rules: policyOf(container).allow },
    }),
    /** A pass and its answers. */
    pass: async () => (await watch.pass()).settled,
  }
  return started
}

let container: Container
let session: SandboxSession
let gateway: ReturnType<typeof startWatch>
const enforcer = () => createRemoteEnforcer(storage.table.attachments, systemClock)
const hosts = () => gateway.attached.get(container.id)?.rules.map(({ host }) => host)

beforeEach(async () => {
  const sandboxId = newId('sandbox')
  container = containerRow({ sandboxId, network: ALLOWED })
  const sandbox = sandboxRow({
    id: sandboxId,
    state: 'claimed',
    address: { kind: 'tcp', host: '10.0.0.5', port: 8700 },
    claimedBy: { tenant: container.tenant, containerId: container.id },
  })
  await storage.table.containers.create(container)
  await storage.table.sandboxes.create(sandbox)
  session = { sandboxId, address: { kind: 'tcp', host: '10.0.0.5', port: 8700 }, privateKey: sandbox.privateKey }
  gateway = startWatch()
})

/** Requests as a worker does, while the gateway polls every few milliseconds. */
async function enforce(): Promise<void> {
  let isOver = false
  const requested = enforcer()
    .enforce(container, session)
    .finally(() => (isOver = true))
  const look = async (): Promise<boolean> => {
    await gateway.pass()
    return isOver
  }
  const [outcome] = await Promise.allSettled([requested, expect.poll(look, { interval: 5 }).toBe(true)])
  if (outcome.status === 'rejected') throw outcome.reason
}

describe('a request of a worker', () => {
  it('resolves when the policy of the row is enforced, and opens the network of a sandbox once', async () => {
    await enforce()
    expect(hosts()).toEqual(['a.example.com'])
    await storage.table.containers.setNetwork(container.tenant, container.id, OTHER)
    await enforce()
    expect(hosts()).toEqual(['b.example.com'])
    expect(gateway.opened).toEqual([session.sandboxId])
  })

  it('is refused with the reason when the rows cannot be enforced, and leaves nothing open', async () => {
    await enforce()
    const works = gateway.attachmentOf
    gateway.attachmentOf = () => Promise.reject(new Error('The secrets cannot be opened.'))
    await expect(enforce()).rejects.toThrow('The secrets cannot be opened.')
    expect(gateway.attached.has(container.id)).toBe(false)
    gateway.attachmentOf = works
    await enforce()
    expect(hosts()).toEqual(['a.example.com'])
  })

  it("is refused for another container's sandbox", async () => {
    const other = containerRow({ tenant: container.tenant, network: ALLOWED })
    await storage.table.containers.create(other)
    container = other
    await expect(enforce()).rejects.toThrow('was released meanwhile')
    expect(gateway.attached.has(other.id)).toBe(false)
  })

  it('fails when no gateway answers', async () => {
    let now = T0
    const clock = { now: () => (now += 7_000) }
    await expect(createRemoteEnforcer(storage.table.attachments, clock).enforce(container, session)).rejects.toThrow(
      'The network gateway did not answer within 20 s.',
    )
  })
})

it('an older policy never replaces a newer one', async () => {
  const { attachmentOf } = gateway
  const slow = Promise.withResolvers<void>()
  gateway.attachmentOf = async (...parts) => {
    const attachment = await attachmentOf(...parts)
    await slow.promise
    return attachment
  }
  const request = (version: string) =>
    storage.table.attachments.request(
      { tenant: container.tenant, containerId: container.id, sandboxId: session.sandboxId, version },
      Date.now() + 60_000,
    )
  await request('first')
  const first = (await gateway.watch.pass()).settled
  gateway.attachmentOf = attachmentOf
  await storage.table.containers.setNetwork(container.tenant, container.id, OTHER)
  await request('second')
  const second = (await gateway.watch.pass()).settled
  slow.resolve()
  await Promise.all([first, second])
  expect(hosts()).toEqual(['b.example.com'])
  expect(await storage.table.attachments.get(container.id)).toMatchObject({ served: 'second' })
})

it('a new process begins with everything that was served', async () => {
  await enforce()
  gateway = startWatch()
  await gateway.pass()
  expect(hosts()).toEqual(['a.example.com'])
})

it('ends a container whose request is gone, also while its answer is prepared', async () => {
  await enforce()
  await enforcer().release(container.id)
  await gateway.pass()
  expect(gateway.attached.has(container.id)).toBe(false)

  const { attachmentOf } = gateway
  const slow = Promise.withResolvers<void>()
  gateway.attachmentOf = async (...parts) => {
    await slow.promise
    return attachmentOf(...parts)
  }
  const requested = enforcer().enforce(container, session)
  await expect.poll(async () => (await storage.table.attachments.get(container.id)) !== null).toBe(true)
  const { settled } = await gateway.watch.pass()
  await enforcer().release(container.id)
  await gateway.watch.pass()
  slow.resolve()
  await Promise.all([settled, expect(requested).rejects.toThrow('was closed meanwhile')])
  expect(gateway.attached.has(container.id)).toBe(false)
})

it('forgets a container whose sandbox is gone, unless it was requested again', async () => {
  await enforce()
  await gateway.watch.onGone(container.id)
  expect(await storage.table.attachments.get(container.id)).toBeNull()

  await enforce()
  const { tenant, id: containerId } = container
  await storage.table.attachments.request({ tenant, containerId, sandboxId: session.sandboxId, version: 'later' }, Date.now() + 60_000)
  await gateway.watch.onGone(containerId)
  expect(await storage.table.attachments.get(containerId)).toMatchObject({ version: 'later' })
})

describe('the lease', () => {
  it('has one process, is over before another one can have it, and gives the sealing key to others', async () => {
    let now = T0
    const clock = { now: () => now }
    const [one, other] = ['wrk_one', 'wrk_other'].map(
      (holder) => new GatewayLease({ attachments: storage.table.attachments, clock, holder }),
    )
    if (one === undefined || other === undefined) throw new Error('There are two.')
    await expect(readSealingKey(storage.table.attachments)).rejects.toThrow('has not started')
    expect(await one.acquire()).toBe(true)
    expect(await other.acquire()).toBe(false)
    await one.publish('key')
    expect(await readSealingKey(storage.table.attachments)).toBe('key')
    now += 11_000
    await one.renew()
    expect([await other.acquire(), one.isOver]).toEqual([false, false])
    now += 14_000
    expect([await other.acquire(), one.isOver]).toEqual([false, true])
    now += 1_001
    expect(await other.acquire()).toBe(true)
    await expect(one.renew()).rejects.toThrow('Another process')
  })

  it('is free at once when its process ends in order', async () => {
    const now = T0 + 1_000_000
    const clock = { now: () => now }
    const [one, other] = ['wrk_a', 'wrk_b'].map((holder) => new GatewayLease({ attachments: storage.table.attachments, clock, holder }))
    expect(await one?.acquire()).toBe(true)
    await one?.release()
    expect(await other?.acquire()).toBe(true)
  })
})
