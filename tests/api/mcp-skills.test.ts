import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { toFile } from 'openai'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { zipOf } from '../support/skill-files.ts'
import { startApi, type TestApi, type TestKey } from '../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

type Mode = 'legacy' | { pin: string }
async function connect(mode: Mode, key: TestKey): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), { authProvider: { token: async () => key.key } }))
  return client
}

const MANIFEST = '---\nname: plots\ndescription: >-\n  Draws\n  plots.\nlicense: MIT\nmetadata:\n  team: data\n---\n\nRun draw.py.\n'
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff])

it.each<[string, Mode]>([
  ['2025-11-25', 'legacy'],
  ['2026-07-28', { pin: '2026-07-28' }],
])('serves skills as resources to the official client, revision %s', async (_version, mode) => {
  const key = await api.newKey()
  const { skills } = api.openai(key)
  const upload = async (files: Parameters<typeof zipOf>[0]) => toFile(zipOf(files), 'plots.zip')
  const skill = await skills.create({ files: await upload({ 'plots/SKILL.md': MANIFEST, 'plots/img/a b.png': PNG }) })
  const client = await connect(mode, key)
  const host = new SkillsClient(client)
  expect(host.supported).toBe(true)

  const uri = `skill://${skill.id}/plots/SKILL.md`
  const { skills: entries } = await host.list()
  expect(entries).toMatchObject([
    { uri, frontmatter: { name: 'plots', description: 'Draws plots.', license: 'MIT', metadata: { team: 'data' } } },
  ])
  const [entry] = entries
  if (entry === undefined) throw new Error('No skill is listed')
  expect((await host.get(uri)).skill).toEqual(entry)
  // The client compares size, digest and front matter with the entry.
  expect(await host.read(entry)).toMatchObject({ verified: true, text: MANIFEST, mimeType: 'text/markdown' })
  expect(Buffer.from((await host.read(entry, 'img/a b.png')).bytes)).toEqual(PNG)
  const { resources } = await client.listResources()
  expect(resources).toMatchObject([{ uri, name: 'plots', description: 'Draws plots.' }])

  const other = await connect(mode, await api.newKey())
  expect((await new SkillsClient(other).list()).skills).toEqual([])
  const answers = [uri, uri.replace(skill.id, 'skill_01kajv9h2s8p0ww3d4dq4cs1zt')].map((wanted) =>
    other.readResource({ uri: wanted }).then(
      () => 'read',
      (error: unknown) => String(error).replace(wanted, 'URI'),
    ),
  )
  const [real, missing] = await Promise.all(answers)
  expect(real).toMatch(/not found/i)
  expect(real).toBe(missing)
  await expect(client.readResource({ uri: uri.replace('SKILL.md', '..%2f..%2fx') })).rejects.toThrow(/not found/i)
})
