import { afterAll, beforeAll, expect, it } from 'vitest'
import { toFile } from 'openai'
import { newId } from '../../../services/model/ids.ts'
import { hashToken, createLink } from '../../../services/operations/links/create-link.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
let containerId: string
beforeAll(async () => {
  api = await startApi()
  containerId = (await api.openai().containers.create({ name: 'links' })).id
})
afterAll(() => api.stop())

async function makeLink(
  container = containerId,
  days = 7,
  fileId: string | null = null,
): Promise<{ readonly id: string; readonly url: string }> {
  const objectKey = `tenants/${api.owner.tenant}/${container}/files/${crypto.randomUUID()}`
  await api.objects.put(objectKey, Buffer.from('bytes'), { contentType: 'text/plain' })
  const target = { objectKey, filename: 'a.txt', mime: 'text/plain', bytes: 5 }
  return createLink(
    api.table.links,
    { tenant: api.owner.tenant, containerId: container, fileId, target, publicUrl: api.url, days },
    api.now(),
  )
}
const statusOf = async (url: string): Promise<number> => (await fetch(url, { redirect: 'manual' })).status

it('redirects to the bytes without a key, with a new URL each time', async () => {
  const { url } = await makeLink()
  const answer = await fetch(url, { redirect: 'manual' })
  expect(answer.status).toBe(302)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
  // Without it, browsers refuse the image on a chat page of another origin.
  expect(answer.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
  const bytes = await fetch(answer.headers.get('location') ?? '')
  expect(await bytes.text()).toBe('bytes')
  expect(bytes.headers.get('content-disposition')).toContain('a.txt')
})

it('is revoked by its owner only', async () => {
  const { id, url } = await makeLink()
  expect((await api.fetch(`/v1/links/${id}`, { method: 'DELETE', key: api.otherTenant })).status).toBe(404)
  expect(await statusOf(url)).toBe(302)
  expect(await (await api.fetch(`/v1/links/${id}`, { method: 'DELETE' })).json()).toEqual({ id, object: 'link.deleted', deleted: true })
  expect(await statusOf(url)).toBe(404)
})

it('ends at its expiry and with its container', async () => {
  const now = Date.now()
  const link = {
    v: 1 as const,
    tenant: api.owner.tenant,
    containerId,
    fileId: null,
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

it('returns JSON for a wrong token', async () => {
  const answer = await fetch(`${api.url}/d/${'x'.repeat(43)}`)
  expect([answer.status, answer.headers.get('content-type'), await answer.json()]).toMatchObject([
    404,
    'application/json',
    { error: { code: 'link_not_found' } },
  ])
})

it('works until its expiry and not afterwards', async () => {
  const { url } = await makeLink(containerId, 2)
  api.skew = 86_400_000
  const answer = await fetch(url, { redirect: 'manual' })
  expect(await (await fetch(answer.headers.get('location') ?? '')).text()).toBe('bytes')
  api.skew = 2 * 86_400_000 + 60_000
  expect(await statusOf(url)).toBe(404)
  api.skew = 0
})

it('is revoked only by a key with access to its container', async () => {
  const tenant = newId('tenant')
  const [anna, ben] = [await api.newKey({ tenant, subject: 'anna' }), await api.newKey({ tenant, subject: 'ben' })]
  const { id: container } = await api.openai(anna).containers.create({ name: 'hers' })
  const target = { objectKey: 'k', filename: 'a', mime: 'text/plain', bytes: 1 }
  const link = await createLink(
    api.table.links,
    { tenant, containerId: container, fileId: null, target, publicUrl: api.url, days: 1 },
    Date.now(),
  )
  const revoke = async (key: typeof anna) => {
    const answer = await api.fetch(`/v1/links/${link.id}`, { method: 'DELETE', key })
    return [answer.status, ((await answer.json()) as { error?: { code: string } }).error?.code]
  }
  expect(await revoke(ben)).toEqual([404, 'link_not_found'])
  expect(await statusOf(link.url)).toBe(302)
  expect(await revoke(anna)).toEqual([200, undefined])
  expect(await statusOf(link.url)).toBe(404)
})

it('is listed by file, and all links of a file are revoked together', async () => {
  const file = await api.openai().containers.files.create(containerId, { file: await toFile(Buffer.from('x'), 'a.txt') })
  const other = await makeLink()
  const links = [await makeLink(containerId, 1, file.id), await makeLink(containerId, 3, file.id)]
  const path = `/v1/containers/${containerId}/files/${file.id}/links`
  expect((await api.fetch(path, { key: api.otherTenant })).status).toBe(404)
  expect((await api.fetch(path, { method: 'DELETE', key: api.otherTenant })).status).toBe(404)
  const list = (await (await api.fetch(path)).json()) as { readonly data: readonly object[] }
  expect(list.data).toMatchObject(links.map(({ id }) => ({ id, object: 'link', file_id: file.id, filename: 'a.txt', revoked_at: null })))
  expect(JSON.stringify(list)).not.toContain('/d/')
  expect(await (await api.fetch(path, { method: 'DELETE' })).json()).toEqual({ object: 'link.list.deleted', deleted: true, revoked: 2 })
  expect(await Promise.all([...links, other].map(({ url }) => statusOf(url)))).toEqual([404, 404, 302])
})

it('to a deleted file replies like an unknown link', async () => {
  const file = await api.openai().containers.files.create(containerId, { file: await toFile(Buffer.from('x'), 'gone.txt') })
  const { url } = await makeLink(containerId, 1, file.id)
  expect(await statusOf(url)).toBe(302)
  await api.openai().containers.files.delete(file.id, { container_id: containerId })
  expect(await statusOf(url)).toBe(404)
})

it('is logged by id, never by its URL', async () => {
  const { id, url } = await makeLink()
  await fetch(url, { redirect: 'manual' })
  const token = url.slice(url.lastIndexOf('/') + 1)
  expect(api.events).toContainEqual(expect.objectContaining({ route: 'followLink', link_id: id }))
  expect(JSON.stringify(api.events)).not.toContain(token)
})
