import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tenantObjects } from '../../../services/model/object-keys.ts'
import { LIMITS } from '../../../services/model/limits.ts'
import { inlineSkill, manifest, zipOf } from '../../support/skill-files.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

let api: TestApi
let key: TestKey
beforeAll(async () => {
  api = await startApi()
  key = await api.newKey()
})
afterAll(() => api.stop())

type Parts = Readonly<Record<string, string | Uint8Array>>

const formOf = (parts: Parts, part = 'files[]'): FormData => {
  const form = new FormData()
  for (const [name, content] of Object.entries(parts)) form.append(part, new Blob([content as BlobPart]), name)
  return form
}
const send = (body: FormData, path = '/v1/skills', as = key): Promise<Response> => api.fetch(path, { method: 'POST', body, key: as })
const errorOf = async (response: Response) => ({
  status: response.status,
  ...((await response.json()) as { error: { code: string; message: string } }).error,
})
const archive = (files: Parts, modes: Readonly<Record<string, number>> = {}): Parts => ({ 'skill.zip': zipOf(files, modes) })
const SKILL = { 's/SKILL.md': manifest() }

/** An archive whose only entry inflates to more bytes than its directory says. */
function lyingArchive(): Buffer {
  const zip = zipOf({ 'SKILL.md': manifest('a', 'b', ' '.repeat(100_000)) })
  const central = zip.indexOf(Buffer.from([0x50, 0x4b, 1, 2]))
  zip.writeUInt32LE(50, central + 24)
  return zip
}

/** 26 MiB of zeros in some 26 KB. */
const bomb = (): Buffer => zipOf({ ...SKILL, 's/zeros': new Uint8Array(LIMITS.maxSkillBytes + 1) })

describe('a skill is refused', () => {
  it.each<[string, () => Parts, string, RegExp]>([
    ['without files', () => ({}), 'invalid_request', /no file/],
    ['without SKILL.md', () => ({ 's/other.md': 'x' }), 'invalid_request', /has no SKILL\.md/],
    ['with SKILL.md below another folder', () => archive({ 's/t/SKILL.md': manifest() }), 'invalid_request', /has no SKILL\.md/],
    ['with several folders', () => archive({ ...SKILL, 't/a': 'x' }), 'invalid_request', /2 files or folders at its top/],
    ['without front matter', () => ({ 'SKILL.md': '# Hello' }), 'invalid_request', /no front matter/],
    ['with YAML that is none', () => ({ 'SKILL.md': '---\nname: [\n---\n' }), 'invalid_request', /not valid YAML/],
    ['with a name in capitals', () => ({ 'SKILL.md': manifest('CSV') }), 'invalid_request', /wrong name: use lower-case/],
    ['with a name that is a path', () => ({ 'SKILL.md': manifest('../a') }), 'invalid_request', /wrong name/],
    ['without a description', () => ({ 'SKILL.md': '---\nname: a\n---\n' }), 'invalid_request', /wrong description/],
    [
      'with aliases in its front matter',
      () => ({ 'SKILL.md': '---\na: &a [x]\nname: a\ndescription: *a\n---\n' }),
      'invalid_request',
      /not valid YAML/,
    ],
    ['with a name that leads out', () => archive({ ...SKILL, '../evil': 'x' }), 'invalid_request', /leads out/],
    ['with an absolute name', () => archive({ ...SKILL, '/etc/passwd': 'x' }), 'invalid_request', /leads out/],
    ['with a form name that leads out', () => ({ 's/SKILL.md': manifest(), 's/../../evil': 'x' }), 'invalid_file_name', /\.\./],
    [
      'with a symbolic link',
      () => archive({ ...SKILL, 's/link': '/etc/passwd' }, { 's/link': 0o120777 }),
      'invalid_request',
      /is a link or a device/,
    ],
    ['with a device', () => archive({ ...SKILL, 's/dev': '' }, { 's/dev': 0o020666 }), 'invalid_request', /is a link or a device/],
    [
      'with a file that is a folder too',
      () => ({ 's/SKILL.md': manifest(), 's/a': 'x', 's/a/b': 'x' }),
      'invalid_request',
      /a file and a folder/,
    ],
    [
      'with a name in two Unicode forms',
      () => ({ 's/SKILL.md': manifest(), 's/\u00e9': 'x', 's/e\u0301': 'x' }),
      'invalid_request',
      /twice/,
    ],
    [
      'in folders that are too deep',
      () => ({ 's/SKILL.md': manifest(), [`s/${'a/'.repeat(9)}b`]: 'x' }),
      'invalid_request',
      /deeper than 8/,
    ],
    [
      'with too many files',
      () => archive({ ...SKILL, ...Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`s/${at}`, ''])) }),
      'limit_exceeded',
      /at most 500 files/,
    ],
    ['as a damaged archive', () => ({ 'a.zip': zipOf(SKILL).subarray(0, 60) }), 'invalid_request', /not a zip archive/],
    ['as an archive that unpacks to too much', () => ({ 'a.zip': bomb() }), 'limit_exceeded', /unpacked/],
    ['as an archive that lies about its size', () => ({ 'a.zip': lyingArchive() }), 'invalid_request', /damaged/],
  ])('%s', async (_, parts, code, message) => {
    const refused = await errorOf(await send(formOf(parts())))
    expect(refused).toMatchObject({ status: 400, code, message: expect.stringMatching(message), param: 'files' })
  })

  it('above its size, announced or not', async () => {
    const large = new Uint8Array(LIMITS.maxSkillArchiveBytes + 1)
    expect(await errorOf(await send(formOf({ 's/SKILL.md': manifest(), 's/x': large })))).toMatchObject({
      status: 413,
      code: 'request_too_large',
    })
  })

  it('as JSON, and in a part of another name', async () => {
    expect((await api.post('/v1/skills', { files: [] }, { key })).status).toBe(415)
    expect(await errorOf(await send(formOf({ 'SKILL.md': manifest() }, 'skill')))).toMatchObject({
      status: 400,
      message: expect.stringMatching(/"skill"/),
    })
  })

  it('without storing any part of it', async () => {
    expect(await api.objects.sizeOf(tenantObjects(key.tenant))).toBe(0)
  })
})

it('ignores what file managers add to archives', async () => {
  const response = await send(formOf(archive({ ...SKILL, '__MACOSX/s/._SKILL.md': 'x', 's/.DS_Store': 'x', '.DS_Store': 'y' })))
  expect(response.status).toBe(200)
})

describe('another caller', () => {
  const paths = (id: string): readonly (readonly [string, string])[] => [
    ['GET', `/v1/skills/${id}`],
    ['POST', `/v1/skills/${id}`],
    ['DELETE', `/v1/skills/${id}`],
    ['GET', `/v1/skills/${id}/content`],
    ['GET', `/v1/skills/${id}/versions`],
    ['POST', `/v1/skills/${id}/versions`],
    ['GET', `/v1/skills/${id}/versions/1`],
    ['GET', `/v1/skills/${id}/versions/1/content`],
    ['DELETE', `/v1/skills/${id}/versions/1`],
  ]
  const bodyOf = (method: string, path: string): RequestInit =>
    method !== 'POST'
      ? {}
      : path.endsWith('versions')
        ? { body: formOf(SKILL) }
        : { body: '{"default_version":"1"}', headers: { 'content-type': 'application/json' } }

  it('gets the same answer for the skill as for a skill that does not exist', async () => {
    const made = (await (await send(formOf(SKILL))).json()) as { id: string }
    const unknown = `${made.id.slice(0, -4)}0000`
    const bound = await api.newKey({ tenant: key.tenant, subject: 'ann' })
    for (const other of [api.otherTenant, bound])
      for (const [at, [method, path]] of paths(made.id).entries()) {
        const [, missingPath = ''] = paths(unknown)[at] ?? []
        const [real, missing] = await Promise.all(
          [path, missingPath].map(async (one) => {
            const answer = await api.fetch(one, { method, key: other, ...bodyOf(method, path) })
            return { status: answer.status, error: ((await answer.json()) as { error: object }).error }
          }),
        )
        const masked = JSON.stringify(real).replaceAll(made.id, unknown)
        expect(JSON.parse(masked), `${method} ${path}`).toEqual(missing)
        expect(real?.status).toBe(404)
      }
    expect((await api.fetch(`/v1/skills/${made.id}`, { key })).status).toBe(200)
    const listed = (await (await api.fetch('/v1/skills', { key: bound })).json()) as { data: unknown[] }
    expect(listed.data).toEqual([])
    const container = await api.post(
      '/v1/containers',
      { name: 'x', skills: [{ type: 'skill_reference', skill_id: made.id }] },
      { key: api.otherTenant },
    )
    expect(await errorOf(container)).toMatchObject({ status: 404, code: 'skill_not_found', param: 'skills[0].skill_id' })
  })

  it('needs the scope of the route', async () => {
    const reader = await api.newKey({ tenant: key.tenant, scopes: ['read'] })
    const runner = await api.newKey({ tenant: key.tenant, scopes: ['run'] })
    expect((await send(formOf(SKILL), '/v1/skills', reader)).status).toBe(403)
    expect((await api.fetch('/v1/skills', { key: runner })).status).toBe(403)
    expect((await api.fetch('/v1/skills', { key: reader })).status).toBe(200)
  })
})

describe('a container is not created', () => {
  const good = () => zipOf({ 'SKILL.md': manifest('one') })
  it.each<[string, () => unknown, number, string, string]>([
    ['with an unknown type', () => [{ type: 'folder' }], 400, 'invalid_request', 'skills[0].type'],
    ['with an unknown skill', () => [{ type: 'skill_reference', skill_id: 'skill_x' }], 404, 'skill_not_found', 'skills[0].skill_id'],
    ['with data that is no archive', () => [inlineSkill('one', Buffer.from('hello'))], 400, 'invalid_request', 'skills[0].source.data'],
    ['with two names for one skill', () => [inlineSkill('two', good())], 400, 'invalid_request', 'skills[0].source.data'],
    ['with too many skills', () => Array.from({ length: 17 }, () => inlineSkill('one', good())), 400, 'invalid_request', 'skills'],
    [
      'when only the second skill is wrong',
      () => [inlineSkill('one', good()), { type: 'skill_reference', skill_id: 'x' }],
      404,
      'skill_not_found',
      'skills[1].skill_id',
    ],
  ])('%s', async (_, skills, status, code, param) => {
    const own = await api.newKey()
    const answer = await api.post('/v1/containers', { name: 'x', skills: skills() }, { key: own })
    expect(await errorOf(answer)).toMatchObject({ status, code, param })
    expect((await api.table.containers.list(own.tenant, { after: null, limit: 9, order: 'asc', name: null })).rows).toEqual([])
    expect(await api.objects.sizeOf(tenantObjects(own.tenant))).toBe(0)
  })

  it('with a version that does not exist', async () => {
    const { id } = (await (await send(formOf(SKILL))).json()) as { id: string }
    for (const version of ['2', '0', 'newest']) {
      const answer = await api.post('/v1/containers', { name: 'x', skills: [{ type: 'skill_reference', skill_id: id, version }] }, { key })
      expect(await errorOf(answer)).toMatchObject({ status: 404, code: 'skill_not_found', param: 'skills[0].version' })
    }
  })
})
