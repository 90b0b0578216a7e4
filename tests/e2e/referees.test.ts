import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

/** Other people's clients as they are installed from npm and PyPI; `npm run test:referees` has more of each. */
const FOLDER = join(import.meta.dirname, '../referees')
const PYTHON = join(import.meta.dirname, '../../.cellblock/referees-python/bin/python')
let server: LocalServerProcess
let container: string
beforeAll(async () => {
  server = await startServer()
  container = await server.native.createContainer()
})
afterAll(() => server.stop())

async function play(program: string, args: readonly string[]): Promise<{ readonly code: number | null; readonly said: string }> {
  const address = { CELLBLOCK_URL: server.url, CELLBLOCK_API_KEY: server.apiKey, CELLBLOCK_MODEL: 'demo', CELLBLOCK_CONTAINER: container }
  const child = spawn(program, args, { cwd: FOLDER, env: { ...process.env, ...address } })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, said }
}

it.each(['agents', 'ai-sdk', 'langchain'])(
  'the client of %s runs and streams code with another base URL and key',
  async (name) => {
    const { code, said } = await play(process.execPath, ['--test', '--test-reporter=tap', `${name}.test.mjs`])
    expect(code, said).toBe(0)
    expect(said).toMatch(/# pass 2\n/)
  },
  120_000,
)

it('the official Python client handles files, uploads, containers and responses, and streams', async () => {
  const cases = ['test_files', 'test_uploads', 'test_containers', 'test_responses_and_conversations', 'test_stream']
  const { code, said } = await play(PYTHON, ['test_openai.py', ...cases.map((name) => `OfficialClient.${name}`)])
  expect(code, said).toBe(0)
  expect(said).toMatch(/Ran 5 tests/)
}, 120_000)
