// `npm run test:referees`: other people's clients against a local server that they know by its address only.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { startServer } from '../support/local-server.ts'

const HERE = import.meta.dirname
const VENV = join(HERE, '../../.cellblock/referees-python')
const CLIENTS = ['openai', 'agents', 'ai-sdk', 'langchain'] as const

/** Resolves with the exit code; what the program says is shown as it comes. */
async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const child = spawn(program, args, { cwd: HERE, env, stdio: 'inherit' })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

async function must(program: string, args: readonly string[]): Promise<void> {
  const code = await run(program, args)
  if (code !== 0) throw new Error(`"${program} ${args.join(' ')}" ended with ${code}. Read what it says above.`)
}

/** Those for Node are there already; Python's has a folder of its own. */
async function installPython(): Promise<void> {
  if (existsSync(join(VENV, 'installed'))) return
  await must('python3', ['-m', 'venv', VENV])
  await must(join(VENV, 'bin/pip'), ['install', '--quiet', '--requirement', 'requirements.txt'])
  await must('touch', [join(VENV, 'installed')])
}

await installPython()
const server = await startServer({ env: { SANDBOX_PRELOAD: '' } })
const env = { ...process.env, CELLBLOCK_URL: server.url, CELLBLOCK_API_KEY: server.apiKey, CELLBLOCK_MODEL: 'demo' }
const codes = [
  await run(process.execPath, ['--test', '--test-concurrency=1', ...CLIENTS.map((name) => `${name}.test.mjs`)], env),
  await run(join(VENV, 'bin/python'), ['test_openai.py'], env),
]
await server.stop()
if (codes.some((code) => code !== 0)) process.exitCode = 1
