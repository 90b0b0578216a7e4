import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exec, upload } from '../support/librechat.ts'
import { startApi, type TestApi } from '../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const BASE = '/librechat/v1'
type Json = Record<string, unknown>
const json = async (answer: Response): Promise<Json> => (await answer.json()) as Json

describe('files', () => {
  it('are uploaded with both session ids, probed, listed, downloaded and deleted', async () => {
    const { session, fileId, body } = await upload(api, 'data.csv', 'a,b\n')
    expect(body).toMatchObject({ message: 'success', session_id: session, storage_session_id: session, files: [{ filename: 'data.csv' }] })
    const probe = `${BASE}/sessions/${session}/objects/${fileId}?kind=user&id=user-1`
    expect(await json(await api.fetch(probe))).toMatchObject({ size: 4, lastModified: expect.any(String), etag: expect.any(String) })
    expect(await (await api.fetch(`${BASE}/files/${session}`)).json()).toEqual([`${session}/${fileId}.csv`])
    expect(await (await api.fetch(`${BASE}/files/${session}?detail=full`)).json()).toMatchObject([
      { name: `${session}/${fileId}.csv`, size: 4, metadata: { 'original-filename': 'data.csv', 'content-type': 'text/csv' } },
    ])
    expect(await (await api.fetch(`${BASE}/download/${session}/${fileId}?kind=user`)).text()).toBe('a,b\n')
    expect((await api.fetch(`${BASE}/files/${session}/${fileId}`, { method: 'DELETE' })).status).toBe(200)
    const gone = await api.fetch(probe)
    expect([gone.status, await json(gone)]).toMatchObject([404, { error: 'session_input_unavailable', message: expect.any(String) }])
  })

  it('of one batch are all kept, and a wrong name is reported beside them', async () => {
    const form = new FormData()
    for (const name of ['a.txt', 'b.txt', 'CON']) form.append('files', new File([name], name))
    const body = await json(await api.fetch(`${BASE}/upload/batch`, { method: 'POST', body: form }))
    expect(body).toMatchObject({
      message: 'partial_success',
      succeeded: 2,
      failed: 1,
      files: [
        { status: 'success', filename: 'a.txt' },
        { status: 'success', filename: 'b.txt' },
        { status: 'error', filename: 'CON' },
      ],
    })
    expect(await (await api.fetch(`${BASE}/files/${String(body['session_id'])}`)).json()).toHaveLength(2)
  })

  it('of another tenant do not exist', async () => {
    const { session, fileId } = await upload(api, 'x.txt', 'x')
    for (const path of [`/download/${session}/${fileId}`, `/files/${session}`, `/sessions/${session}/objects/${fileId}`])
      expect((await api.fetch(`${BASE}${path}`, { key: api.otherTenant })).status).toBe(404)
  })
})

describe('exec', () => {
  it('runs Python with copies of its files, and distinguishes changed, unchanged and new files', async () => {
    const [kept, changed] = [await upload(api, 'kept.txt', 'k'), await upload(api, 'sub/changed.txt', 'c')]
    const refs = [
      { id: kept.fileId, name: 'kept.txt', storage_session_id: kept.session, resource_id: 'user-1', kind: 'user' },
      { id: changed.fileId, name: 'sub/changed.txt', session_id: changed.session, resource_id: 'user-1', kind: 'user' },
    ]
    const file = (path: string, id: string) => ({ id, path, bytes: 1, mime: 'text/plain', sha256: 'x', isNew: true, modifiedFrom: null })
    const { status, body } = await exec(
      api,
      { lang: 'py', code: 'print(1)', files: refs },
      { result: { stdout: '1\n', files: [file('sub/changed.txt', 'cfile_1'), file('out/new.txt', 'cfile_2')] } },
      async (containerId) => {
        const present = (await api.table.files.all(api.owner.tenant, containerId)).map(({ path }) => path)
        expect(present.toSorted()).toEqual(['kept.txt', 'sub/changed.txt'])
      },
    )
    expect(status).toBe(200)
    const session = body['session_id']
    expect(body).toMatchObject({ stdout: '1\n', stderr: '', code: 0, signal: null, status: 'succeeded' })
    expect(body['files']).toEqual([
      {
        id: 'cfile_1',
        name: 'sub/changed.txt',
        path: '/mnt/data/sub/changed.txt',
        storage_session_id: session,
        modified_from: { id: changed.fileId, storage_session_id: changed.session },
      },
      { id: 'cfile_2', name: 'out/new.txt', path: '/mnt/data/out/new.txt', storage_session_id: session },
      { id: kept.fileId, name: 'kept.txt', storage_session_id: kept.session, inherited: true },
    ])
    expect(body['deleted_files']).toBeUndefined()
  })

  it('names the inputs that the code deleted', async () => {
    const { session, fileId } = await upload(api, 'gone.txt', 'x')
    const { body } = await exec(
      api,
      { lang: 'python', code: 'rm()', files: [{ id: fileId, name: 'gone.txt', storage_session_id: session }] },
      {},
      async (containerId) => {
        const [row] = await api.table.files.all(api.owner.tenant, containerId)
        await api.table.files.patch({ tenant: api.owner.tenant, containerId, id: row?.id ?? '' }, { isCurrent: false, state: 'deleted' })
      },
    )
    expect(body).toMatchObject({ files: [], deleted_files: ['gone.txt'] })
  })

  it('answers failing code with 200 and the traceback in stderr', async () => {
    const { status, body } = await exec(
      api,
      { lang: 'py', code: '1/0' },
      {
        result: { error: { name: 'ZeroDivisionError', value: 'x', traceback: ['ZeroDivisionError: division by zero'] } },
        patch: { status: 'failed', reason: 'error' },
      },
    )
    expect([status, body]).toMatchObject([200, { code: 1, stderr: 'ZeroDivisionError: division by zero' }])
  })

  it('uses one container for all calls with the same hint', async () => {
    const call = { lang: 'py', code: 'pass', runtime_session_hint: 'conversation-1' }
    const first = await exec(api, call, {})
    const second = await exec(api, call, {})
    expect(first.body).toMatchObject({ runtime_status: 'new', code: 0 })
    expect(second.body).toMatchObject({ runtime_status: 'reused', runtime_session_id: first.body['runtime_session_id'] })
    expect(second.headers.get('x-codeapi-execution-profile')).toBe('stateful')
  })

  it('reports a language that is not available as a permanent capability error', async () => {
    const answer = await api.post(`${BASE}/exec`, { lang: 'f90', code: 'end' })
    expect([answer.status, await json(answer)]).toMatchObject([
      422,
      { error: 'unsupported_capability', message: expect.stringContaining('f90') },
    ])
  })

  it('reports a missing input', async () => {
    const file = { id: 'cfile_01kajv9h2s8p0ww3d4dq4cs1zt', name: 'a', storage_session_id: 'cntr_01kajv9h2s8p0ww3d4dq4cs1zt' }
    const answer = await api.post(`${BASE}/exec`, { lang: 'py', code: '1', files: [file] })
    expect([answer.status, await json(answer)]).toMatchObject([422, { error: 'session_input_unavailable' }])
  })
})

it('takes the key as X-API-Key as well, but not two keys', async () => {
  const get = (headers: Record<string, string>) => api.fetch(`${BASE}/files/cntr_01kajv9h2s8p0ww3d4dq4cs1zt`, { key: null, headers })
  const { key } = api.owner
  expect((await get({ 'x-api-key': key, 'user-id': 'u1' })).status).toBe(404)
  expect((await get({ 'x-api-key': 'ck_wrong' })).status).toBe(401)
  expect((await get({ 'x-api-key': key, authorization: `Bearer ${key}` })).status).toBe(400)
  expect((await api.fetch(`${BASE}/health`, { key: null })).status).toBe(200)
})
