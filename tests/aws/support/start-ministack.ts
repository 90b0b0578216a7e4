import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

export interface MiniStack {
  readonly endpoint: string
  /** What it printed until now, with the log lines of functions. */
  log(): Promise<string>
  stop(): Promise<void>
}

const START_MS = 60_000
const RUNTIME = join(import.meta.dirname, 'streaming-runtime.cjs')

/** An empty AWS account on a free port of this machine. Functions run as processes of this very Node; tasks are containers of the local engine. */
export async function startMiniStack(python: string): Promise<MiniStack> {
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-aws-'))
  const port = await freePort()
  const logFile = join(folder, 'ministack.log')
  const log = openSync(logFile, 'a')
  const child = spawn(python, ['-m', 'ministack'], {
    cwd: folder,
    stdio: ['ignore', log, log],
    env: {
      // Functions inherit all of this: nothing of the caller's but where programs are.
      PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
      HOME: folder,
      TMPDIR: folder,
      ...(process.env['DOCKER_HOST'] === undefined ? {} : { DOCKER_HOST: process.env['DOCKER_HOST'] }),
      NODE_OPTIONS: `--require ${RUNTIME} --disable-warning=DEP0169`,
      GATEWAY_PORT: String(port),
      BIND_HOST: '127.0.0.1',
      MINISTACK_HOST: '127.0.0.1',
      IOT_MTLS_ENABLED: '0',
      SFTP_ENABLED: '0',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      NO_PROXY: '127.0.0.1,localhost',
    },
  })
  const endpoint = `http://127.0.0.1:${port}`
  const read = (): Promise<string> => readFile(logFile, 'utf8')
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      const isLate = setTimeout(() => child.kill('SIGKILL'), 20_000)
      await ended
      clearTimeout(isLate)
    }
    await rm(folder, { recursive: true, force: true })
  }
  const until = Date.now() + START_MS
  while (!(await answers(endpoint))) {
    if (child.exitCode === null && Date.now() < until) await delay(100)
    else {
      const said = (await read()).slice(-2_000)
      await stop()
      throw new Error(`The emulated account did not start:\n${said}`)
    }
  }
  return { endpoint, log: read, stop }
}

const answers = (endpoint: string): Promise<boolean> =>
  fetch(`${endpoint}/_ministack/health`).then(
    ({ ok }) => ok,
    () => false,
  )

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
