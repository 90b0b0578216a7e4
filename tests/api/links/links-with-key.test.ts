import { afterAll, beforeAll, expect, it } from 'vitest'
import { createLink } from '../../../services/operations/links/create-link.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi({ config: { linksRequireKey: true } })
})
afterAll(() => api.stop())

async function makeLink(key: TestKey): Promise<string> {
  const { id: containerId } = await api.openai(key).containers.create({ name: 'links' })
  const objectKey = `tenants/${api.owner.tenant}/${containerId}/files/a`
  await api.objects.put(objectKey, Buffer.from('bytes'), { contentType: 'text/plain' })
  const target = { objectKey, filename: 'a.txt', mime: 'text/plain', bytes: 5 }
  const wanted = { tenant: api.owner.tenant, containerId, fileId: null, target, publicUrl: '', days: 7 }
  return (await createLink(api.table.links, wanted, api.now())).url
}
const follow = async (path: string, key: TestKey | null): Promise<number> => (await api.fetch(path, { key })).status

it('opens a link only with a key of its tenant', async () => {
  const path = await makeLink(api.owner)
  expect(await follow(path, null)).toBe(401)
  expect(await follow(path, api.otherTenant)).toBe(404)
  expect(await follow(path, api.owner)).toBe(302)
})

it('opens no link into a container of another end user', async () => {
  const { tenant } = api.owner
  const [alice, bob] = await Promise.all([api.newKey({ tenant, subject: 'alice' }), api.newKey({ tenant, subject: 'bob' })])
  const path = await makeLink(alice)
  expect(await follow(path, bob)).toBe(404)
  expect(await follow(path, alice)).toBe(302)
})

it('asks for the key before it says whether a link exists', async () => {
  expect(await follow(`/d/${'x'.repeat(43)}`, null)).toBe(401)
})
