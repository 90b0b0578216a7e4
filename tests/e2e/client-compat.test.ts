import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

/** Third-party clients from npm and PyPI. `npm run test:clients` runs all of their tests. */
const FOLDER = join(import.meta.dirname, '../client-compat')
const PYTHON = join(import.meta.dirname, '../../.cellblock/client-compat-python/bin/python')
let server: LocalServerProcess
let container: string
beforeAll(async () => {
  server = await startServer()
  container = await server.native.createContainer()
})
afterAll(() => server.stop())

async function runClient(program: string, args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  const address = { CELLBLOCK_URL: server.url, CELLBLOCK_API_KEY: server.apiKey, CELLBLOCK_MODEL: 'demo', CELLBLOCK_CONTAINER: container }
  const child = spawn(program, args, { cwd: FOLDER, env: { ...process.env, ...address } })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

it.each(['agents', 'ai-sdk', 'langchain', 'chat-completions'])(
  'the client of %s runs and streams code with another base URL and key',
  async (name) => {
    const { code, output } = await runClient(process.execPath, ['--test', '--test-reporter=tap', `${name}.test.mjs`])
    expect(code, output).toBe(0)
    expect(output).toMatch(/# pass 2\n/)
  },
  120_000,
)

it('the official Python client handles files, uploads, containers and responses, and streams', async () => {
  const cases = ['test_files', 'test_uploads', 'test_containers', 'test_responses_and_conversations', 'test_stream']
  const { code, output } = await runClient(PYTHON, ['test_openai.py', ...cases.map((name) => `OfficialClient.${name}`)])
  expect(code, output).toBe(0)
  expect(output).toMatch(/Ran 5 tests/)
}, 120_000)

it("the client of n8n's sandbox service creates, runs, resumes, cancels and works with files", async () => {
  const { code, output } = await runClient(process.execPath, ['--test', '--test-force-exit', '--test-reporter=tap', 'n8n.test.mjs'])
  expect(code, output).toBe(0)
  expect(output).toMatch(/# pass 5\n/)
}, 120_000)

it('the clients of E2B run code and commands, and work with files', async () => {
  const names = [
    'runs code with live output',
    'are written, read, listed',
    'run in the background',
    'have arguments of 1 MiB',
    'fail for a user',
    'pauses with its files',
  ]
  const options = ['--test', '--test-force-exit', '--test-reporter=tap', '--test-concurrency=1', `--test-name-pattern=${names.join('|')}`]
  const { code, output } = await runClient(process.execPath, [...options, 'e2b-interpreter.test.mjs', 'e2b-envd.test.mjs'])
  expect(code, output).toBe(0)
  expect(output).toMatch(/# pass 6\n/)
}, 120_000)
