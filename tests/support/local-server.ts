import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import OpenAI from 'openai'
import { SERVER_ENVIRONMENT, serverNodeFlags } from '../../scripts/commands.ts'
import { callNative, type NativeClient } from './native-client.ts'
import { serverStorage } from './server-storage.ts'

const ROOT = dirname(dirname(import.meta.dirname))
const END_WITH_PARENT = join(import.meta.dirname, 'end-with-parent.ts')
const STARTED_WITHIN_MS = 60_000
const run = promisify(execFile)

export interface LocalServerProcess {
  readonly url: string
  readonly apiKey: string
  readonly dataDir: string
  /** Labels its sandboxes. */
  readonly stage: string
  readonly pid: number
  readonly openai: OpenAI
  readonly native: NativeClient
  /** Its standard error so far. */
  said(): string
  /** A native client with another key; `isWhole` as in `callNative`. */
  as(apiKey: string, isWhole?: boolean): NativeClient
  /** Closes the pipes of its output, as a reader does that ends before the server. */
  closeOutput(): void
  /** Stops it as a user does. Returns the exit code. */
  stop(): Promise<number | null>
  /** Kills it. */
  kill(): Promise<void>
}

/**
 * Starts the server as a separate process with the settings of `npm start`, on a free port, without a warm pool and with sandboxes that preload nothing (half the
 * start time; `SANDBOX_PRELOAD: ''` gives the default ones), with a permanent data folder if `dataDir` is given, and from another copy of the code
 * if `root` is given. It ends with the process that started it, however that one ends.
 */
export async function startServer(
  options: { readonly dataDir?: string; readonly env?: Readonly<Record<string, string>>; readonly root?: string } = {},
): Promise<LocalServerProcess> {
  const root = options.root ?? ROOT
  const storage = await serverStorage(options.dataDir)
  const { dataDir, stage } = storage
  const apiKey = 'ck_test_0123456789abcdef0123456789'
  // Do not save variables that no test reads again.
  const thrownAway = options.dataDir === undefined ? { CELLBLOCK_SAVE_SECONDS: '0' } : {}
  const flags = [...serverNodeFlags(storage.env), '--disable-warning=ExperimentalWarning', '--import', END_WITH_PARENT]
  const child = spawn(process.execPath, [...flags, join(root, 'services/entries/local/main.ts'), ...storage.args], {
    cwd: root,
    env: {
      ...process.env,
      ...SERVER_ENVIRONMENT,
      ...storage.env,
      PORT: '0',
      CELLBLOCK_API_KEY: apiKey,
      CELLBLOCK_POOL: '0',
      SANDBOX_PRELOAD: 'none',
      ...thrownAway,
      ...options.env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const said: string[] = []
  child.stderr?.on('data', (chunk: Buffer) => void said.push(chunk.toString()))
  const url = await readyUrl(child, said)
  let isAsked = false
  const exited = once(child, 'exit')
  // If the server ends by itself, every later call fails, so print its last output.
  child.once(
    'exit',
    (code, signal) => isAsked || process.stderr.write(`The server ended by itself (${code ?? signal}):\n${said.join('').slice(-4_000)}\n`),
  )
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    isAsked = true
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await exited
    return child.exitCode
  }
  const as: LocalServerProcess['as'] = (key, isWhole) => callNative(url, key, isWhole)
  return {
    url,
    apiKey,
    dataDir,
    stage,
    pid: child.pid ?? 0,
    openai: new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 }),
    native: as(apiKey),
    said: () => said.join(''),
    as,
    closeOutput: () => void (child.stdout?.destroy(), child.stderr?.destroy()),
    stop: async () => {
      const code = await end('SIGTERM')
      if (options.dataDir !== undefined) return code
      await storage.remove()
      if ((options.env?.['SANDBOX_DOCKER_RUNTIME'] ?? process.env['SANDBOX_DOCKER_RUNTIME']) !== undefined) await removeSuspended(stage)
      return code
    },
    kill: async () => void (await end('SIGKILL')),
  }
}

/** A server leaves its suspended sandboxes to the next one on its data folder, and this folder is gone. */
async function removeSuspended(stage: string): Promise<void> {
  const { stdout } = await run('docker', ['ps', '-aq', '--filter', `label=cellblock.stage=${stage}`, '--filter', 'status=exited'])
  const ids = stdout.split('\n').filter(Boolean)
  if (ids.length > 0) await run('docker', ['rm', ...ids])
}

/** Resolves when the server prints that it is ready. Rejects with its output if it ends before. */
async function readyUrl(child: ChildProcess, said: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`The server did not start (${why}):\n${said.join('')}`))
    const late = setTimeout(() => (child.kill('SIGKILL'), fail('no ready line')), STARTED_WITHIN_MS)
    child.once('exit', (code) => fail(`exit code ${code}`))
    const lines = createInterface({ input: child.stdout ?? process.stdin })
    lines.on('line', (line) => {
      said.push(`${line}\n`)
      const url = /http:\/\/[\w.-]+:\d+/.exec(line)?.[0]
      if (!/ready/i.test(line) || url === undefined) return
      clearTimeout(late)
      resolve(url)
    })
  })
}
