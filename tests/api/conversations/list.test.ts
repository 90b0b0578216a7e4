import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LIMITS } from '../../../services/model/limits.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

interface Listed {
  readonly data: readonly { readonly id: string; readonly x_cellblock: { readonly title: string | null; readonly archived: boolean } }[]
  readonly has_more: boolean
}

async function list(query: string, key?: TestKey): Promise<Listed> {
  const answer = await api.fetch(`/v1/conversations?${query}`, key === undefined ? {} : { key })
  expect(answer.status).toBe(200)
  return (await answer.json()) as Listed
}
const titles = async (query: string, key?: TestKey) => (await list(query, key)).data.map(({ x_cellblock: { title } }) => title)

async function create(title: string | null, key: TestKey): Promise<string> {
  api.skew += 1_000
  const answer = await api.post('/v1/conversations', title === null ? {} : { x_cellblock: { title } }, { key })
  expect(answer.status).toBe(200)
  return ((await answer.json()) as { readonly id: string }).id
}

describe('the list of conversations', () => {
  it('has the latest active first, in pages, with and without untitled ones', async () => {
    const key = await api.newKey()
    const first = await create('Sales of March', key)
    await create('Weather', key)
    await create(null, key)
    expect(await titles('', key)).toEqual([null, 'Weather', 'Sales of March'])
    expect(await titles('titled=true', key)).toEqual(['Weather', 'Sales of March'])
    api.skew += 1_000
    await api.post(`/v1/conversations/${first}/items`, { items: [{ role: 'user', content: 'x' }] }, { key })
    expect(await titles('titled=true', key)).toEqual(['Sales of March', 'Weather'])
    api.skew += 1_000
    await api.openai(key).responses.create({ model: 'demo', input: 'x', background: true, conversation: first })
    const page = await list('titled=true&limit=1', key)
    expect(page).toMatchObject({ data: [{ id: first, x_cellblock: { running: [expect.stringMatching(/^resp_/)] } }], has_more: true })
    expect(await titles(`titled=true&limit=1&after=${first}`, key)).toEqual(['Weather'])
  })

  it('finds titles by a part of them, and keeps archived ones apart', async () => {
    const key = await api.newKey()
    const id = await create('Café figures', key)
    await create('Other', key)
    expect(await titles(`q=${encodeURIComponent('CAFÉ')}`, key)).toEqual(['Café figures'])
    const change = { x_cellblock: { archived: true } }
    expect(await (await api.post(`/v1/conversations/${id}`, change, { key })).json()).toMatchObject(change)
    expect(await titles('', key)).toEqual(['Other'])
    expect(await titles('archived=true', key)).toEqual(['Café figures'])
    await api.post(`/v1/conversations/${id}`, { x_cellblock: { archived: false, title: 'Costs' } }, { key })
    expect(await titles('', key)).toEqual(['Costs', 'Other'])
    await api.fetch(`/v1/conversations/${id}`, { method: 'DELETE', key })
    expect(await titles('', key)).toEqual(['Other'])
  })

  it('shows an end user their own, and another tenant nothing', async () => {
    const whole = await api.newKey()
    const keyOf = (subject: string) => api.newKey({ tenant: whole.tenant, subject })
    const [ann, bob] = [await keyOf('ann'), await keyOf('bob')]
    await create('Of Ann', ann)
    await create('Of Bob', bob)
    expect(await titles('', ann)).toEqual(['Of Ann'])
    expect(await titles('q=of', bob)).toEqual(['Of Bob'])
    expect(await titles('', whole)).toEqual(['Of Bob', 'Of Ann'])
    expect(await titles('q=of')).not.toContain('Of Ann')
  })

  it('needs the scope read, and refuses a title that is empty or too long', async () => {
    const key = await api.newKey({ scopes: ['run'] })
    expect((await api.fetch('/v1/conversations', { key })).status).toBe(403)
    for (const title of ['', '   ', 'x'.repeat(201)])
      expect((await api.post('/v1/conversations', { x_cellblock: { title } })).status, title).toBe(400)
    const id = await create('Kept', api.owner)
    expect((await api.post(`/v1/conversations/${id}`, {})).status).toBe(400)
  })
})

describe('the search in messages', () => {
  const ask = (key: TestKey, q: string) => titles(`search_in=messages&q=${encodeURIComponent(q)}`, key)

  it('finds messages, code and answers, of the own end user only', async () => {
    const whole = await api.newKey()
    const ann = await api.newKey({ tenant: whole.tenant, subject: 'ann' })
    const first = await create('One', ann)
    const second = await create('Two', whole)
    const add = (id: string, key: TestKey, items: readonly unknown[]) => api.post(`/v1/conversations/${id}/items`, { items }, { key })
    await add(first, ann, [{ role: 'user', content: 'The Zebra question' }])
    await add(first, ann, [{ role: 'user', content: [{ type: 'input_text', text: 'nested giraffe' }] }])
    await add(second, whole, [{ type: 'code_interpreter_call', code: 'zebra = 1', container_id: 'c', status: 'completed', outputs: null }])
    expect((await ask(whole, 'zebra')).toSorted()).toEqual(['One', 'Two'])
    expect(await ask(ann, 'ZEBRA')).toEqual(['One'])
    expect(await ask(ann, 'giraffe')).toEqual(['One'])
    expect(await ask(ann, 'One')).toEqual([])
    expect(await ask(api.otherTenant, 'zebra')).toEqual([])
  })

  it('stops after the latest items and bytes', async () => {
    const key = await api.newKey()
    const old = await create('Old', key)
    await api.post(`/v1/conversations/${old}/items`, { items: [{ role: 'user', content: 'needle' }] }, { key })
    for (let batch = 0; batch * 20 < LIMITS.textSearchItems; batch++) {
      const items = Array.from({ length: 20 }, () => ({ role: 'user', content: 'hay' }))
      expect((await api.post(`/v1/conversations/${old}/items`, { items }, { key })).status).toBe(200)
    }
    expect(await ask(key, 'needle')).toEqual([])
    const near = await create('Near', key)
    await api.post(`/v1/conversations/${near}/items`, { items: [{ role: 'user', content: 'needle' }] }, { key })
    expect(await ask(key, 'needle')).toEqual(['Near'])
    for (let count = 0; count < 3; count++) {
      const big = await create('Big', key)
      await api.post(
        `/v1/conversations/${big}/items`,
        { items: [{ role: 'user', content: 'x'.repeat(LIMITS.textSearchBytes / 2) }] },
        { key },
      )
    }
    expect(await ask(key, 'needle')).toEqual([])
  }, 30_000)
})
