import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

/** Other people's clients as they are installed from npm; `npm run test:referees` has more of each, and Python's. */
const FOLDER = join(import.meta.dirname, '../referees')
let server: LocalServerProcess
let container: string
beforeAll(async () => {
  server = await startServer()
  container = await server.native.createContainer()
})
afterAll(() => server.stop())

it.each(['agents', 'ai-sdk', 'langchain'])(
  'the client of %s runs and streams code with another base URL and key',
  async (name) => {
    const address = { CELLBLOCK_URL: server.url, CELLBLOCK_API_KEY: server.apiKey, CELLBLOCK_MODEL: 'demo', CELLBLOCK_CONTAINER: container }
    const child = spawn(process.execPath, ['--test', '--test-reporter=tap', `${name}.test.mjs`], {
      cwd: FOLDER,
      env: { ...process.env, ...address },
    })
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    expect(code, said).toBe(0)
    expect(said).toMatch(/# pass 2\n/)
  },
  120_000,
)
