import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

interface Sandbox {
  readonly sandboxID: string
  readonly envdAccessToken: string
  readonly templateID: string
}
async function control<Body>(method: string, path: string, { body, key = api.owner }: { body?: unknown; key?: TestKey } = {}) {
  const answer = await fetch(`${api.url}/e2b${path}`, {
    method,
    headers: { 'x-api-key': key.key, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, next: answer.headers.get('x-next-token'), body: (text === '' ? null : JSON.parse(text)) as Body }
}
const create = async (body: unknown = {}) => (await control<Sandbox>('POST', '/sandboxes', { body })).body
const write = ({ sandboxID, envdAccessToken }: Sandbox, path: string, text: string): Promise<Response> =>
  fetch(`${api.url}/e2b/files?path=${path}`, {
    method: 'POST',
    headers: { 'e2b-sandbox-id': sandboxID, 'x-access-token': envdAccessToken, 'content-type': 'application/octet-stream' },
    body: text,
  })
const files = async ({ sandboxID }: Sandbox): Promise<readonly string[]> => {
  const { body } = await control<{ readonly metadata: unknown }>('GET', `/sandboxes/${sandboxID}`)
  expect(body).not.toBeNull()
  const id = `cntr_${sandboxID.slice(0, 26)}`
  return (await api.openai().containers.files.list(id)).data.map(({ path }) => path)
}

describe('fork', () => {
  it('answers sandboxes with other tokens, the session of the source and its files', async () => {
    const source = await create({ metadata: { of: 'ann' }, envVars: { A: '1' }, timeout: 100 })
    expect((await write(source, 'a.txt', 'x')).ok).toBe(true)
    const { status, body } = await control<readonly { readonly sandbox: Sandbox }[]>('POST', `/sandboxes/${source.sandboxID}/fork`, {
      body: { count: 2, timeout: 60 },
    })
    expect([status, body.length]).toEqual([201, 2])
    const all = [source, ...body.map(({ sandbox }) => sandbox)]
    expect(new Set(all.map(({ sandboxID }) => sandboxID)).size).toBe(3)
    expect(new Set(all.map(({ envdAccessToken }) => envdAccessToken)).size).toBe(3)
    for (const { sandbox } of body) {
      expect(await files(sandbox)).toEqual(['/mnt/data/a.txt'])
      const { body: seen } = await control('GET', `/sandboxes/${sandbox.sandboxID}`)
      expect(seen).toMatchObject({ metadata: { of: 'ann' }, state: 'running', templateID: source.templateID })
      expect((await write({ ...sandbox, envdAccessToken: source.envdAccessToken }, 'b.txt', 'x')).status).toBe(401)
    }
  })

  it('is refused for a sandbox that was killed, and for a wrong number', async () => {
    const { sandboxID } = await create()
    expect((await control('POST', `/sandboxes/${sandboxID}/fork`, { body: { count: 0 } })).status).toBe(400)
    await control('DELETE', `/sandboxes/${sandboxID}`)
    expect((await control('POST', `/sandboxes/${sandboxID}/fork`, { body: {} })).status).toBe(404)
  })
})

describe('snapshots', () => {
  interface Snapshot {
    readonly snapshotID: string
    readonly names: readonly string[]
  }
  it('are made, listed, started from by id and by name, and deleted', async () => {
    const source = await create({ envVars: { A: '1' } })
    await write(source, 'a.txt', 'x')
    const path = `/sandboxes/${source.sandboxID}/snapshots`
    const { status, body: named } = await control<Snapshot>('POST', path, { body: { name: 'prepared' } })
    expect([status, named.names]).toEqual([201, ['prepared:default']])
    const { body: unnamed } = await control<Snapshot>('POST', path, { body: {} })
    expect(unnamed.names).toEqual([])
    const listed = async (query = '') =>
      (await control<readonly Snapshot[]>('GET', `/snapshots${query}`)).body.map(({ snapshotID }) => snapshotID)
    expect(await listed()).toEqual([unnamed.snapshotID, named.snapshotID])
    expect(await listed(`?sandboxID=${source.sandboxID}`)).toEqual([unnamed.snapshotID, named.snapshotID])
    expect(await listed('?name=prepared')).toEqual([named.snapshotID])
    expect(await listed(`?name=${unnamed.snapshotID}`)).toEqual([unnamed.snapshotID])
    expect([await listed('?name=other'), await listed('?sandboxID=other')]).toEqual([[], []])
    const first = await control<readonly Snapshot[]>('GET', '/snapshots?limit=1')
    expect(await listed(`?limit=1&nextToken=${first.next}`)).toEqual([named.snapshotID])
    for (const templateID of [named.snapshotID, 'prepared', 'prepared:default']) {
      const made = await create({ templateID, metadata: { x: 'y' } })
      expect([made.templateID, await files(made)]).toEqual([templateID, ['/mnt/data/a.txt']])
    }
    const removal = () => control('DELETE', `/templates/${named.snapshotID}`)
    expect([(await removal()).status, (await removal()).status]).toEqual([204, 404])
    expect((await control('POST', '/sandboxes', { body: { templateID: named.snapshotID } })).status).toBe(404)
    expect(await listed()).toEqual([unnamed.snapshotID])
  })

  it('of another account are not found', async () => {
    const source = await create()
    const { body } = await control<Snapshot>('POST', `/sandboxes/${source.sandboxID}/snapshots`, { body: {} })
    const key = api.otherTenant
    expect((await control('POST', '/sandboxes', { body: { templateID: body.snapshotID }, key })).status).toBe(404)
    expect((await control('DELETE', `/templates/${body.snapshotID}`, { key })).status).toBe(404)
    expect((await control<readonly Snapshot[]>('GET', '/snapshots', { key })).body).toEqual([])
  })
})
