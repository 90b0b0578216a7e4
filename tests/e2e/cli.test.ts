import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

const MAIN = join(import.meta.dirname, '../../scripts/cli/main.ts')

interface CliResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

let server: LocalServerProcess
let folder: string

beforeAll(async () => {
  server = await startServer({ env: { CELLBLOCK_POOL: '2' } })
  folder = await mkdtemp(join(tmpdir(), 'cellblock-cli-'))
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args], {
    env: {
      ...process.env,
      PORT: new URL(server.url).port,
      CELLBLOCK_API_KEY: server.apiKey,
      // As `npm run cli` sets them.
      INIT_CWD: folder,
      npm_lifecycle_event: 'cli',
      CELLBLOCK_URL: '',
      TABLE_NAME: '',
      ...env,
    },
  })
}

async function cli(
  args: readonly string[],
  options: { readonly input?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<CliResult> {
  const child = start(args, options.env)
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()))
  child.stdin.end(options.input ?? '')
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...said }
}

const json = async <T>(args: readonly string[]): Promise<T> => JSON.parse((await cli([...args, '--json'])).stdout) as T

describe('tenants and keys', () => {
  it('creates a tenant whose key works at once', async () => {
    const made = await json<{ id: string; api_key: string }>(['tenants', 'create', 'Acme GmbH'])
    expect((await server.as(made.api_key).call('GET', '/v1/containers')).status).toBe(200)
    expect(await json<unknown[]>(['tenants', 'list'])).toContainEqual(expect.objectContaining({ id: made.id, name: 'Acme GmbH' }))
  })

  it('creates a second key, lists it without its secret and revokes it', async () => {
    const { id: tenant } = await json<{ id: string }>(['tenants', 'create', 'two keys'])
    const made = await json<{ id: string; api_key: string }>(['keys', 'create', tenant, '--subject', 'user-7'])
    const listed = await cli(['keys', 'list'])
    expect(listed.stdout).toMatch(new RegExp(`${made.id} +${tenant} +user-7`))
    expect(listed.stdout).not.toContain(made.api_key)

    expect(await cli(['keys', 'revoke', made.id])).toMatchObject({ code: 0, stdout: expect.stringContaining('is revoked since') })
    // It was never used before, so no server has it in its cache.
    expect((await server.as(made.api_key).call('GET', '/v1/containers')).status).toBe(401)
  })

  it("disables and enables a tenant's tool and sets the lifetime of its links", async () => {
    const { id: tenant } = await json<{ id: string }>(['tenants', 'create', 'policies'])
    const set = ['tenants', 'policy', tenant, '--tool-off', 'web_search', '--tool-off', 'weather', '--link-days', '2']
    expect(await json(set)).toEqual({ tenant, tools_off: ['weather', 'web_search'], link_days: 2 })
    expect(await json(['tenants', 'policy', tenant, '--tool-on', 'weather'])).toEqual({ tenant, tools_off: ['web_search'], link_days: 2 })
  })

  it.each([
    [['tenants', 'policy', 'tnt_absent', '--link-days', 'x'], 2, 'Give a whole number'],
    [['keys', 'create', 'tnt_absent'], 3, 'No tenant "tnt_absent" exists'],
    [['keys', 'revoke', 'key_absent'], 3, 'No API key "key_absent" exists'],
    [['tenants', 'create'], 2, "missing required argument 'name'"],
    [['tenants', 'create', 'two', 'words'], 2, 'too many arguments'],
    [['tenants', 'list', '--nope'], 2, "unknown option '--nope'"],
    [['tenants', 'burn'], 2, "unknown command 'burn'"],
    [['burn'], 2, "unknown command 'burn'"],
    [[], 2, 'Usage: cellblock'],
  ] as const)('ends %j with exit code %i and an explanation', async (args, code, sentence) => {
    expect(await cli(args)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(sentence) })
  })

  it('explains what to do when no server runs', async () => {
    expect(await cli(['tenants', 'list'], { env: { PORT: '9' } })).toMatchObject({ code: 3, stderr: expect.stringContaining('npm start') })
  })
})
