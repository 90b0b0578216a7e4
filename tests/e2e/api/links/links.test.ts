import { afterAll, beforeAll, expect, it } from 'vitest'
import { hashToken, createLink } from '../../../../services/core/links.ts'
import { startApi, type TestApi } from '../../../support/start-api.ts'

let api: TestApi
let containerId: string
beforeAll(async () => {
  api = await startApi()
  containerId = (await api.openai().containers.create({ name: 'links' })).id
})
afterAll(() => api.stop())

async function makeLink(container = containerId): Promise<{ readonly id: string; readonly url: string }> {
  const objectKey = `tenants/${api.owner.tenant}/${container}/files/${crypto.randomUUID()}`
  await api.objects.put(objectKey, Buffer.from('bytes'), { contentType: 'text/plain' })
  const target = { objectKey, filename: 'a.txt', mime: 'text/plain', bytes: 5 }
  return createLink(api.table.links, { tenant: api.owner.tenant, containerId: container, target, publicUrl: api.url }, Date.now())
}
const statusOf = async (url: string): Promise<number> => (await fetch(url, { redirect: 'manual' })).status

it('leads to the bytes without a key, by a fresh URL each time', async () => {
  const { url } = await makeLink()
  const answer = await fetch(url, { redirect: 'manual' })
  expect(answer.status).toBe(302)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
  const bytes = await fetch(answer.headers.get('location') ?? '')
  expect(await bytes.text()).toBe('bytes')
  expect(bytes.headers.get('content-disposition')).toContain('a.txt')
})

it('is revoked by its owner, and by nobody else', async () => {
  const { id, url } = await makeLink()
  expect((await api.fetch(`/v1/links/${id}`, { method: 'DELETE', key: api.stranger })).status).toBe(404)
  expect(await statusOf(url)).toBe(302)
  expect(await (await api.fetch(`/v1/links/${id}`, { method: 'DELETE' })).json()).toEqual({ id, object: 'link.deleted', deleted: true })
  expect(await statusOf(url)).toBe(404)
})

it('ends with its time and with its container', async () => {
  const now = Date.now()
  const link = {
    v: 1 as const,
    tenant: api.owner.tenant,
    containerId,
    target: { objectKey: 'k', filename: 'a', mime: 'text/plain', bytes: 1 },
    createdAt: now - 2,
    revokedAt: null,
  }
  await api.table.links.put({ ...link, id: 'link_01kajv9h2s8p0ww3d4dq4cs1zt', tokenHash: hashToken('t'.repeat(43)), expiresAt: now - 1 })
  expect(await statusOf(`${api.url}/d/${'t'.repeat(43)}`)).toBe(404)

  const { id } = await api.openai().containers.create({ name: 'short' })
  const { url } = await makeLink(id)
  expect(await statusOf(url)).toBe(302)
  await api.openai().containers.delete(id)
  expect(await statusOf(url)).toBe(404)
})

it('answers a wrong token as JSON', async () => {
  const answer = await fetch(`${api.url}/d/${'x'.repeat(43)}`)
  expect([answer.status, answer.headers.get('content-type'), await answer.json()]).toMatchObject([
    404,
    'application/json',
    { error: { code: 'link_not_found' } },
  ])
})
