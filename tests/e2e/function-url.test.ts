import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServerBehindFunctionUrl, type ServerBehindFunctionUrl } from '../support/function-url-relay.ts'

const run = promisify(execFile)
const FOLDER = join(import.meta.dirname, '../client-compat')
const ENDS_WITHIN_MS = 10_000

let behind: ServerBehindFunctionUrl
let container: string
beforeAll(async () => {
  behind = await startServerBehindFunctionUrl()
  container = await behind.server.native.createContainer()
})
afterAll(() => behind?.stop())

/** Runs tests of the third-party clients by parts of their names. */
async function runClients(
  files: readonly string[],
  names: readonly string[],
): Promise<{ readonly code: number | null; readonly output: string }> {
  const { url, apiKey } = behind.server
  // Its code ends when the client disconnects, which Lambda does not report, so it runs for its whole minute.
  const skipped = '--test-skip-pattern=ends code at the time limit of the call'
  const options = [
    '--test',
    skipped,
    '--test-force-exit',
    '--test-reporter=tap',
    '--test-concurrency=1',
    `--test-name-pattern=${names.join('|')}`,
  ]
  const child = spawn(process.execPath, [...options, ...files], {
    cwd: FOLDER,
    env: { ...process.env, CELLBLOCK_URL: url, CELLBLOCK_API_KEY: apiKey, CELLBLOCK_MODEL: 'demo', CELLBLOCK_CONTAINER: container },
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${behind.server.url}${path}`, {
    redirect: 'manual',
    signal: AbortSignal.timeout(ENDS_WITHIN_MS),
    ...init,
    headers: { authorization: `Bearer ${behind.server.apiKey}`, ...init.headers },
  })

describe('behind a function URL that never ends an answer without a byte', () => {
  it.each(['legacy', { pin: '2026-07-28' }] as const)(
    'the MCP client connects, with its notification, and runs code (%j)',
    async (mode) => {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
      const authProvider = { token: async () => behind.server.apiKey }
      await client.connect(new StreamableHTTPClientTransport(new URL(`${behind.server.url}/mcp`), { authProvider }))
      expect((await client.listTools()).tools.length).toBeGreaterThan(5)
      const { structuredContent } = await client.callTool({
        name: 'execute_code',
        arguments: { container_id: container, code: 'print(6 * 7)' },
      })
      expect(structuredContent).toMatchObject({ stdout: '42\n' })
    },
  )

  it('a notification of MCP is accepted, HEAD and OPTIONS end, and E2B sees no 204', async () => {
    const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' }
    const accepted = await ask('/mcp', { method: 'POST', headers: json, body: JSON.stringify(notification) })
    expect([accepted.status, await accepted.text()]).toEqual([202, '\n'])
    expect((await ask('/v1/models', { method: 'HEAD' })).status).toBe(200)
    expect((await ask('/v1/models', { method: 'OPTIONS' })).ok).toBe(false)
    const made = await ask('/e2b/v2/sandboxes', { method: 'POST', headers: { ...json, 'x-api-key': behind.server.apiKey }, body: '{}' })
    const { sandboxID } = (await made.json()) as { sandboxID: string }
    const killed = await ask(`/e2b/sandboxes/${sandboxID}`, { method: 'DELETE', headers: { 'x-api-key': behind.server.apiKey } })
    expect([killed.status, await killed.json()]).toEqual([200, {}])
  })

  it('links redirect fetch and curl to the bytes, and HEAD ends', async () => {
    const { native } = behind.server
    const { files } = await native.run(container, "open('/mnt/data/a.txt', 'w').write('the bytes')")
    const url = String(files[0]?.url)
    expect(new URL(url).origin).toBe(behind.server.url)
    expect(await (await fetch(url, { signal: AbortSignal.timeout(ENDS_WITHIN_MS) })).text()).toBe('the bytes')
    expect((await run('curl', ['--silent', '--show-error', '--max-time', '10', '--location', url])).stdout).toBe('the bytes')
    const content = `/v1/containers/${container}/files/${files[0]?.id}/content`
    const redirect = await ask(content)
    expect([redirect.status, await redirect.text()]).toEqual([302, '\n'])
    const head = await ask(content, { method: 'HEAD' })
    expect([head.status, head.headers.get('x-amzn-remapped-content-length')]).toEqual([200, '9'])
  })

  it('the OpenAI client handles files, containers, responses and conversations', async () => {
    const { code, output } = await runClients(['openai.test.mjs'], ['retrieve, list, delete', 'create and stream', 'conversation'])
    expect(code, output).toBe(0)
    expect(output).not.toMatch(/^# pass 0$/m)
  })

  it('the clients of E2B run code, use contexts, read empty files, pause, connect and kill', async () => {
    const { code, output } = await runClients(['e2b-interpreter.test.mjs', 'e2b-envd.test.mjs'], ['.'])
    expect(code, output).toBe(0)
    expect(output).not.toMatch(/^# pass 0$/m)
  })

  it('an empty file of E2B stays empty', async () => {
    const { output, code } = await run(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `import { Sandbox } from 'e2b'; import { connection } from './e2b.mjs'
const sandbox = await Sandbox.create(connection)
await sandbox.files.write('empty.txt', '')
console.log(JSON.stringify([await sandbox.files.read('empty.txt'), (await sandbox.files.read('empty.txt', { format: 'bytes' })).length, await sandbox.kill()]))`,
      ],
      { cwd: FOLDER, env: { ...process.env, CELLBLOCK_URL: behind.server.url, CELLBLOCK_API_KEY: behind.server.apiKey } },
    ).then(
      ({ stdout }) => ({ code: 0, output: stdout }),
      (error: Error) => ({ code: 1, output: error.message }),
    )
    expect([code, output.trim()]).toEqual([0, '["",0,true]'])
  })
})
