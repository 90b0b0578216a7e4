import { afterAll, beforeAll, expect, it } from 'vitest'
import { ImageCatalogue } from '../../../services/model/containers/images.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

let api: TestApi
let key: TestKey
beforeAll(async () => {
  api = await startApi({ images: new ImageCatalogue({ slim: 'sandbox:1', standard: 'sandbox:1-standard' }, 'slim') })
  key = await api.newKey({ scopes: ['admin'] })
})
afterAll(() => api.stop())

it('refuses a tenant whose image the server does not offer, and a change to one', async () => {
  const refused = await api.post('/v1/admin/tenants', { name: 'a', image: 'nope' }, { key })
  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({
    error: { code: 'unsupported_value', param: 'image', message: expect.stringContaining('slim, standard') },
  })
  const created = (await (await api.post('/v1/admin/tenants', { name: 'a', image: 'standard' }, { key })).json()) as { readonly id: string }
  expect((await api.post(`/v1/admin/tenants/${created.id}`, { image: 'nope' }, { key })).status).toBe(400)
  const reset = await api.post(`/v1/admin/tenants/${created.id}`, { image: null }, { key })
  expect([reset.status, await reset.json()]).toEqual([200, expect.objectContaining({ image: null })])
})
