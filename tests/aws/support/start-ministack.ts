import { execFile, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, open } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'

export interface MiniStack {
  readonly endpoint: string
  /** Its own folder, which goes with it. */
  readonly folder: string
  /** The engine's ids of the containers that its tasks are. */
  tasks(): Promise<readonly string[]>
  /** Takes everything away that it made. The same happens by itself when this process ends in any other way. */
  stop(): Promise<void>
}

const START_MS = 60_000
const CHILD = join(import.meta.dirname, 'ministack-child.ts')

/**
 * An empty AWS account on a free port of this machine. Functions run as processes of this very Node; tasks are containers of the local engine.
 * Several may run at one time: each has its own account number and thereby its own names.
 */
export async function startMiniStack(python: string): Promise<MiniStack> {
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-aws-'))
  const log = await open(join(folder, 'ministack.log'), 'a+')
  const port = String(await freePort())
  const account = String(randomInt(100_000_000_000, 200_000_000_000))
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', CHILD, python, folder, port, account], {
    // Out of the terminal's group: an interrupt reaches the tests, and their end reaches this one.
    detached: true,
    stdio: ['pipe', log.fd, log.fd],
  })
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit')
      child.stdin?.end()
      await ended
    }
    await log.close()
  }
  const endpoint = `http://127.0.0.1:${port}`
  const until = Date.now() + START_MS
  while (!(await answers(endpoint))) {
    if (child.exitCode === null && Date.now() < until) await delay(100)
    else {
      const { size } = await log.stat()
      const { buffer } = await log.read({ buffer: Buffer.alloc(2_000), position: Math.max(0, size - 2_000) })
      await stop()
      throw new Error(`The emulated account did not start:\n${buffer.toString().replaceAll('\0', '')}`)
    }
  }
  return {
    endpoint,
    folder,
    async tasks() {
      const { stdout } = await promisify(execFile)('docker', [
        'ps',
        '--quiet',
        '--filter',
        `label=ministack.instance=${hostname()}:${port}`,
      ])
      return stdout.split('\n').filter(Boolean)
    },
    stop,
  }
}

const answers = (endpoint: string): Promise<boolean> =>
  fetch(`${endpoint}/_ministack/health`).then(
    ({ ok }) => ok,
    () => false,
  )
