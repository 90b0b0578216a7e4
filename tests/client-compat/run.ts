// `npm run test:clients` runs third-party clients against a local server. They know only its address and a key.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { startServer } from '../support/local-server.ts'

const HERE = import.meta.dirname
const VENV = join(HERE, '../../.cellblock/client-compat-python')
const CLIENTS = ['openai', 'agents', 'ai-sdk', 'langchain'] as const

/** Runs a program with inherited output and returns its exit code. */
async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const child = spawn(program, args, { cwd: HERE, env, stdio: 'inherit' })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

const server = await startServer({ env: { SANDBOX_PRELOAD: '' } })
const env = { ...process.env, CELLBLOCK_URL: server.url, CELLBLOCK_API_KEY: server.apiKey, CELLBLOCK_MODEL: 'demo' }
const codes = [
  await run(process.execPath, ['--test', '--test-concurrency=1', ...CLIENTS.map((name) => `${name}.test.mjs`)], env),
  await run(join(VENV, 'bin/python'), ['test_openai.py'], env),
]
await server.stop()
if (codes.some((code) => code !== 0)) process.exitCode = 1
