import Docker from 'dockerode'
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { CheckpointOptions } from '../../services/adapters/drivers/docker/checkpoints.ts'

const STARTED_WITHIN_MS = 60_000
const POLL_MS = 100

/** A separate Docker engine beside that of the machine, which a test may restart. */
export interface SecondEngine {
  readonly docker: Docker
  readonly dataRoot: string
  /** Its folder for the state of runtimes. */
  readonly engineState: string
  /** Ends it as the machine's service manager does, and starts it again with the same data. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Starts it with an image of the machine's engine and with the same runtime. Needs root. */
export async function startSecondEngine({
  image,
  runtime,
  checkpoints,
}: {
  readonly image: string
  readonly runtime: string
  readonly checkpoints: CheckpointOptions
}): Promise<SecondEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'engine-'))
  const inFolder = (name: string): string => join(folder, name)
  const [socket, dataRoot, engineState, settings] = [inFolder('docker.sock'), inFolder('data'), inFolder('exec'), inFolder('daemon.json')]
  writeFileSync(settings, JSON.stringify({ runtimes: { [runtime]: { path: checkpoints.program, runtimeArgs: checkpoints.args } } }))
  // Without a separate bridge it would change the one of the machine's engine.
  const bridge = `cb${process.pid}`
  execFileSync('ip', ['link', 'add', bridge, 'type', 'bridge'])
  execFileSync('ip', ['address', 'add', '172.31.254.1/24', 'dev', bridge])
  const docker = new Docker({ socketPath: socket })
  const log = inFolder('dockerd.log')
  const options = {
    ...{ 'config-file': settings, 'data-root': dataRoot, 'exec-root': engineState, host: `unix://${socket}` },
    ...{ pidfile: inFolder('pid'), iptables: 'false', 'ip-masq': 'false', bridge },
  }
  const start = async (): Promise<ChildProcess> => {
    const output = openSync(log, 'a')
    const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
    const started = spawn('dockerd', args, { stdio: ['ignore', output, output] })
    for (const deadline = performance.now() + STARTED_WITHIN_MS; ; await pause(POLL_MS)) {
      if (await isAnswering(docker)) return started
      if (started.exitCode !== null || performance.now() > deadline)
        throw new Error(`The second engine did not start: ${readFileSync(log, 'utf8').slice(-2_000)}`)
    }
  }
  const end = async (running: ChildProcess): Promise<void> => {
    const ended = once(running, 'exit')
    running.kill('SIGTERM')
    await ended
  }
  let daemon = await start()
  const saving = spawn('docker', ['save', image], { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const _ of await docker.loadImage(saving.stdout));
  return {
    docker,
    dataRoot,
    engineState,
    async restart() {
      await end(daemon)
      daemon = await start()
    },
    async stop() {
      await end(daemon)
      execFileSync('ip', ['link', 'delete', bridge])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const isAnswering = (docker: Docker): Promise<boolean> =>
  docker.ping().then(
    () => true,
    () => false,
  )
