import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import { newSandbox } from '../../../services/operations/sandboxes/new-sandbox.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

const ACTIONS = ['suspend', 'resume'] as const
let api: TestApi
let bare: TestApi
beforeAll(async () => {
  api = await startApi({ canSuspend: true })
  bare = await startApi()
})
afterAll(() => Promise.all([api.stop(), bare.stop()]))

async function newContainer(of: TestApi): Promise<string> {
  const answer = await of.post('/v1/containers', { name: 'x' })
  return ((await answer.json()) as { id: string }).id
}
const act = async (of: TestApi, id: string, action: string, key = of.owner) => {
  const answer = await of.post(`/v1/containers/${id}/${action}`, undefined, { key })
  return { status: answer.status, body: (await answer.json()) as { state: string; error: { code: string; message: string } } }
}

describe.each(ACTIONS)('%s', (action) => {
  it('is refused where sandboxes cannot keep their processes, with what to do', async () => {
    const { status, body } = await act(bare, await newContainer(bare), action)
    expect([status, body.error.code]).toEqual([409, 'conflict'])
    expect(body.error.message).toContain('--runtime gvisor')
  })

  it('answers for a container of another tenant as for none', async () => {
    const foreign = await act(api, await newContainer(api), action, api.otherTenant)
    const none = await act(api, newId('container'), action)
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'container_not_found'])
    expect([none.status, none.body.error.code]).toEqual([404, 'container_not_found'])
  })

  it('needs the scope to run code', async () => {
    const id = await newContainer(api)
    const reader = await api.newKey({ tenant: api.owner.tenant, scopes: ['read'] })
    expect((await act(api, id, action, reader)).status).toBe(403)
  })

  it('says that a container without a sandbox is released', async () => {
    expect(await act(api, await newContainer(api), action)).toMatchObject({
      status: 200,
      body: { object: 'container.processes', state: 'released', checkpoint_bytes: null },
    })
  })
})

it('a container in use is not suspended', async () => {
  const id = await newContainer(api)
  await api.table.containers.enqueue(api.owner.tenant, id, { executionId: newId('execution'), now: api.now(), dueAt: api.now() })
  const { status, body } = await act(api, id, 'suspend')
  expect([status, body.error.code]).toEqual([409, 'conflict'])
  expect(body.error.message).toContain('in use')
})

it('a container with a sandbox in memory is running when it is resumed', async () => {
  const id = await newContainer(api)
  const { tenant } = api.owner
  const sandbox = newSandbox({ memoryTier: '1g', image: 'any', claimedBy: { tenant, containerId: id } }, api.now())
  await api.table.sandboxes.create(sandbox)
  await api.table.containers.setSandbox(tenant, id, { generation: 0, sandboxId: sandbox.id, stateLost: null, dueAt: null })
  expect(await act(api, id, 'resume')).toMatchObject({ status: 200, body: { state: 'running' } })
})
