import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { placeFile } from '../../services/operations/files/place-file.ts'
import { exec, upload, type UploadedFile } from '../support/librechat.ts'
import { startApi, type TestApi } from '../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const input = ({ fileId, session }: UploadedFile, name = 'data.csv') => ({ id: fileId, name, storage_session_id: session })

/** What code finds in `/mnt/data`, by path; `write` is a new content of `data.csv`, or null to remove it. */
async function run(
  hint: string | undefined,
  files: readonly ReturnType<typeof input>[],
  write?: string | null,
): Promise<{ readonly found: Readonly<Record<string, string>>; readonly body: Record<string, unknown> }> {
  const found: Record<string, string> = {}
  const request = { lang: 'py', code: '1', files, ...(hint !== undefined && { runtime_session_hint: hint }) }
  const { body } = await exec(api, request, {}, async (containerId) => {
    const { tenant } = api.owner
    const current = (await api.table.files.all(tenant, containerId)).filter((file) => file.isCurrent && file.state === 'stored')
    for (const file of current) {
      const answer = await api.fetch(`/librechat/v1/download/${containerId}/${file.id}`)
      found[file.path] = await answer.text()
      if (write === null && file.path === 'data.csv')
        await api.table.files.patch({ tenant, containerId, id: file.id }, { isCurrent: false })
    }
    if (typeof write !== 'string') return
    const content = Buffer.from(write)
    const sha256 = createHash('sha256').update(content).digest('hex')
    const written = { tenant, path: 'data.csv', bytes: content.length, sha256, mime: 'text/csv', body: content }
    await placeFile(api, written, { containerId, now: api.now() })
  })
  return { found, body }
}

describe('inputs of calls with one hint', () => {
  it('keep what code made of an upload, and are replaced by another upload of the same name', async () => {
    const [first, second] = [await upload(api, 'data.csv', 'first'), await upload(api, 'data.csv', 'second')]
    expect((await run('replaced', [input(first)], 'changed')).found).toEqual({ 'data.csv': 'first' })
    expect((await run('replaced', [input(first)])).found).toEqual({ 'data.csv': 'changed' })
    expect((await run('replaced', [input(second)], 'changed again')).found).toEqual({ 'data.csv': 'second' })
    expect((await run('replaced', [input(second)])).found).toEqual({ 'data.csv': 'changed again' })
    expect((await run('replaced', [])).found).toEqual({ 'data.csv': 'changed again' })
    expect((await run('replaced', [input(first)])).found).toEqual({ 'data.csv': 'first' })
  })

  it('are brought again when code removed them, without a second copy', async () => {
    const file = await upload(api, 'data.csv', 'first')
    await run('removed', [input(file)], null)
    const { found, body } = await run('removed', [input(file)])
    expect(found).toEqual({ 'data.csv': 'first' })
    expect(await api.table.files.all(api.owner.tenant, String(body['session_id']))).toHaveLength(1)
  })

  it('leave a file of the same container as it is now', async () => {
    const file = await upload(api, 'data.csv', 'first')
    const { body } = await run('own', [input(file)], 'changed')
    const session = String(body['session_id'])
    const [, changed] = await api.table.files.all(api.owner.tenant, session)
    await run('own', [], 'changed again')
    const own = { id: changed?.id ?? '', name: 'data.csv', storage_session_id: session }
    expect((await run('own', [own])).found).toEqual({ 'data.csv': 'changed again' })
  })
})

it('several inputs of one name are all there: the latest under it, the others with a hash, and stderr says so', async () => {
  const [first, second] = [await upload(api, 'sub/data.csv', 'first'), await upload(api, 'sub/data.csv', 'second')]
  const name = 'sub/data.csv'
  const { found, body } = await run(undefined, [input(second, name), input(first, name), input(first, name)])
  const alias = Object.keys(found).find((path) => path !== name) ?? ''
  expect(alias).toMatch(/^sub\/data-[0-9a-f]{8}\.csv$/)
  expect(found).toEqual({ [name]: 'second', [alias]: 'first' })
  expect(body['stderr']).toContain(alias)
  expect(body['files']).toEqual([
    { id: second.fileId, name, storage_session_id: second.session, inherited: true },
    { id: first.fileId, name: alias, storage_session_id: first.session, inherited: true },
  ])
})

it('an input whose bytes no longer exist is refused like a missing one', async () => {
  const file = await upload(api, 'data.csv', 'first')
  const row = await api.table.files.get(api.owner.tenant, file.session, file.fileId)
  await api.objects.delete(row?.objectKey ?? '')
  const answer = await api.post('/librechat/v1/exec', { lang: 'py', code: '1', files: [input(file)] })
  expect([answer.status, await answer.json()]).toMatchObject([422, { error: 'session_input_unavailable' }])
})
