import { unzipSync } from 'fflate'
import { toFile, type OpenAI } from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import { objectPrefix } from '../../../services/model/object-keys.ts'
import { sweepSkill } from '../../../services/workers/reconcile/sweep-expired.ts'
import { createLimitReader } from '../../../services/operations/tenancy/limit-reader.ts'
import { DAY_MS } from '../../../services/model/tenants/retention.ts'
import { inlineSkill, manifest, zipOf } from '../../support/skill-files.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
let client: OpenAI
let tenant: string
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())
beforeEach(async () => {
  const key = await api.newKey()
  tenant = key.tenant
  client = api.openai(key)
})

const zipFile = (content: Buffer) => toFile(content, 'skill.zip', { type: 'application/zip' })
const zipped = async (name?: string, description?: string) =>
  zipFile(zipOf({ 'csv_report/SKILL.md': manifest(name, description), 'csv_report/report.sh': '#!/bin/sh\necho 1\n' }))
const folder = () =>
  Promise.all([
    toFile(Buffer.from(manifest()), 'csv_report/SKILL.md'),
    toFile(Buffer.from('#!/bin/sh\n'), 'csv_report/scripts/run.sh'),
    toFile(Buffer.from('a,b\n'), 'csv_report/data/größe.csv'),
  ])
const namesIn = async (response: Response): Promise<string[]> =>
  Object.keys(unzipSync(new Uint8Array(await response.arrayBuffer()))).toSorted()

describe('a skill, by the official client', () => {
  it('is created from a folder, and downloaded with the paths of its files', async () => {
    const skill = await client.skills.create({ files: await folder() })
    expect(skill).toEqual({
      id: expect.stringMatching(/^skill_/),
      object: 'skill',
      name: 'csv-report',
      description: 'Reports on a CSV file.',
      created_at: expect.any(Number),
      default_version: '1',
      latest_version: '1',
    })
    expect(await namesIn(await client.skills.content.retrieve(skill.id))).toEqual([
      'csv-report/SKILL.md',
      'csv-report/data/größe.csv',
      'csv-report/scripts/run.sh',
    ])
  })

  it('is created from a folder with many files without a warning of the process', async () => {
    const warnings: Error[] = []
    const note = (warning: Error): void => void warnings.push(warning)
    process.on('warning', note)
    try {
      const more = Array.from({ length: 40 }, (_, n) => toFile(Buffer.from(`${n}`), `csv_report/data/${n}.csv`))
      const skill = await client.skills.create({ files: [...(await folder()), ...(await Promise.all(more))] })
      expect(await namesIn(await client.skills.content.retrieve(skill.id))).toHaveLength(43)
    } finally {
      process.off('warning', note)
    }
    expect(warnings).toEqual([])
  })

  it('is created from a zip archive, listed, read and deleted', async () => {
    const first = await client.skills.create({ files: await zipped() })
    const second = await client.skills.create({ files: [await zipped('other', 'Second')] })
    expect((await client.skills.list({ order: 'asc' })).data).toEqual([first, second])
    const page = await client.skills.list({ order: 'asc', limit: 1 })
    expect((await page.getNextPage()).data).toEqual([second])
    expect(await client.skills.retrieve(first.id)).toEqual(first)
    expect(await client.skills.delete(first.id)).toEqual({ id: first.id, object: 'skill.deleted', deleted: true })
    await expect(client.skills.retrieve(first.id)).rejects.toMatchObject({ status: 404, code: 'skill_not_found' })
    expect(await api.objects.sizeOf(objectPrefix(tenant, first.id))).toBe(0)
  })

  it('has versions: the default one changes on request, and numbers are not used again', async () => {
    const { id } = await client.skills.create({ files: await zipped() })
    const second = await client.skills.versions.create(id, { files: await zipped('csv-report', 'Second') })
    expect(second).toMatchObject({ object: 'skill.version', skill_id: id, version: '2', description: 'Second' })
    expect(await client.skills.retrieve(id)).toMatchObject({
      default_version: '1',
      latest_version: '2',
      description: 'Reports on a CSV file.',
    })
    const third = await client.skills.versions.create(id, { files: await folder(), default: true })
    expect(await client.skills.retrieve(id)).toMatchObject({ default_version: '3', latest_version: '3' })
    expect(await client.skills.update(id, { default_version: '2' })).toMatchObject({ default_version: '2', description: 'Second' })
    expect(await client.skills.versions.retrieve('2', { skill_id: id })).toEqual(second)
    expect(await client.skills.versions.delete('3', { skill_id: id })).toEqual({
      id: third.id,
      object: 'skill.version.deleted',
      deleted: true,
      version: '3',
    })
    await expect(client.skills.versions.retrieve('3', { skill_id: id })).rejects.toMatchObject({ status: 404 })
    await expect(client.skills.versions.content.retrieve('3', { skill_id: id })).rejects.toMatchObject({ status: 404 })
    await expect(client.skills.versions.delete('2', { skill_id: id })).rejects.toMatchObject({ status: 409, code: 'conflict' })
    expect(await client.skills.versions.create(id, { files: await zipped() })).toMatchObject({ version: '4' })
    const all: string[] = []
    for await (const version of client.skills.versions.list(id, { limit: 1, order: 'desc' })) all.push(version.version)
    expect(all).toEqual(['4', '2', '1'])
    expect(await namesIn(await client.skills.versions.content.retrieve('2', { skill_id: id }))).toEqual([
      'csv-report/SKILL.md',
      'csv-report/report.sh',
    ])
  })

  it('gets a number for each of many versions that arrive together', async () => {
    const { id } = await client.skills.create({ files: await zipped() })
    const made = await Promise.all(Array.from({ length: 5 }, async () => client.skills.versions.create(id, { files: await zipped() })))
    expect(made.map(({ version }) => version).toSorted()).toEqual(['2', '3', '4', '5', '6'])
    expect(await client.skills.retrieve(id)).toMatchObject({ latest_version: '6' })
  })

  it('has one more version after calls that repeat one with its idempotency key, also at the same time', async () => {
    const { id } = await client.skills.create({ files: await zipped() })
    const add = async () =>
      client.skills.versions.create(id, { files: await zipped('csv-report', 'Next') }, { headers: { 'idempotency-key': 'v-1' } })
    const made = [...(await Promise.all([add(), add(), add()])), await add()]
    expect(new Set(made.map(({ version }) => version))).toEqual(new Set(['2']))
    expect((await client.skills.retrieve(id)).latest_version).toBe('2')
    // The bytes of the refused copies are gone: one object per version.
    expect(await api.objects.deletePrefix(objectPrefix(tenant, id))).toBe(2)
  })

  it('is created once by a call that is repeated with its idempotency key', async () => {
    const create = async () => client.skills.create({ files: await zipped() }, { headers: { 'idempotency-key': 'k-1' } })
    const first = await create()
    expect(await create()).toEqual(first)
    expect((await client.skills.list()).data).toHaveLength(1)
  })

  it('goes when its retention has passed since its latest version', async () => {
    const { id } = await client.skills.create({ files: await zipped() })
    const due = { kind: 'skill', tenant, id, dueAt: 0 } as const
    const limits = createLimitReader(api.table.tenants, { now: () => api.now() })
    await sweepSkill({ table: api.table, objects: api.objects, clock: { now: () => api.now() + 3_000 * DAY_MS }, limits }, due)
    expect(await client.skills.retrieve(id)).toMatchObject({ id })
    await sweepSkill({ table: api.table, objects: api.objects, clock: { now: () => api.now() + 4_000 * DAY_MS }, limits }, due)
    await expect(client.skills.retrieve(id)).rejects.toMatchObject({ status: 404 })
    expect(await api.objects.sizeOf(objectPrefix(tenant, id))).toBe(0)
  })
})

describe('a container with skills', () => {
  it('has copies of the versions that the request means, and keeps them when the skill is deleted', async () => {
    const skill = await client.skills.create({ files: await zipped() })
    await client.skills.versions.create(skill.id, { files: await zipped('csv-report', 'Second') })
    const reference = (version?: string) => ({
      type: 'skill_reference' as const,
      skill_id: skill.id,
      ...(version !== undefined && { version }),
    })
    const container = await client.containers.create({
      name: 'x',
      skills: [reference(), reference('latest'), reference('1'), inlineSkill('inline-one', zipOf({ 'SKILL.md': manifest('inline-one') }))],
    })
    expect(container).toMatchObject({
      skills: [
        {
          name: 'csv-report',
          description: 'Reports on a CSV file.',
          path: expect.stringMatching(/^\/mnt\/skills\/csv-report-[0-9a-f]{12}$/),
        },
        { name: 'csv-report', description: 'Second' },
        { name: 'inline-one', path: expect.stringMatching(/^\/mnt\/skills\/inline-one-/) },
      ],
    })
    await client.skills.delete(skill.id)
    const row = await api.table.containers.get(tenant, container.id)
    expect(row?.skills).toHaveLength(3)
    for (const { objectKey, bytes } of row?.skills ?? []) {
      expect(objectKey.startsWith(objectPrefix(tenant, container.id))).toBe(true)
      expect((await api.objects.head(objectKey))?.bytes).toBe(bytes)
    }
  })

  it('counts against the storage of its tenant, and is exported with its tenant', async () => {
    const skill = await client.skills.create({ files: await zipped() })
    const kinds: string[] = []
    for await (const row of api.table.tenantRows.export(tenant)) kinds.push(`${row.kind} ${row.id}`)
    expect(kinds).toContain(`skill ${skill.id}`)
    await api.table.tenantRows.remove(tenant, null, () => false)
    expect(await api.table.skills.get(tenant, skill.id)).toBeNull()
    expect(await api.table.skills.get(newId('tenant'), skill.id)).toBeNull()
  })
})
