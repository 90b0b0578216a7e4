import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, readlink } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const PID_FILE = '/var/run/docker.pid'
const POLL_MS = 200
/** The engine waits for containers that do not stop at once. */
const STOP_MS = 60_000
const START_MS = 60_000

const answers = (): Promise<boolean> =>
  run('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: 15_000 }).then(
    () => true,
    () => false,
  )

/** Restarts this machine's container engine: through systemd, or by running the engine's current command again. Stops every container on the machine. */
export async function restartEngine(): Promise<void> {
  if (existsSync('/run/systemd/system')) await run('systemctl', ['restart', 'docker'])
  else await restartProcess(PID_FILE)
  await until(answers, START_MS, 'The engine does not answer after its restart. Run `docker version` to see why.')
}

/** Stops the process in this pid file and starts the same command again, detached. */
export async function restartProcess(pidFile: string): Promise<void> {
  const pid = Number(await readFile(pidFile, 'utf8').catch(() => ''))
  if (!(pid > 1))
    throw new Error(`${pidFile} names no process. Restart the engine by hand while the scenario runs, or start the engine with a pid file.`)
  const ofProcess = `/proc/${pid}`
  const strings = async (file: string): Promise<string[]> => (await readFile(`${ofProcess}/${file}`, 'utf8')).split('\0').filter(Boolean)
  const [args, environment, program, cwd] = await Promise.all([
    strings('cmdline'),
    strings('environ'),
    readlink(`${ofProcess}/exe`),
    readlink(`${ofProcess}/cwd`),
  ])
  const env = Object.fromEntries(environment.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
  process.kill(pid, 'SIGTERM')
  await until(async () => !(await isAlive(pid)), STOP_MS, `Process ${pid} did not end within ${STOP_MS / 1000} seconds.`)
  spawn(program, args.slice(1), { env, cwd, detached: true, stdio: 'ignore' }).unref()
}

/** A zombie counts as ended. */
const isAlive = (pid: number): Promise<boolean> =>
  readFile(`/proc/${pid}/stat`, 'utf8').then(
    (stat) => !/^\d+ \(.*\) Z/.test(stat),
    () => false,
  )

async function until(holds: () => Promise<boolean>, limitMs: number, otherwise: string): Promise<void> {
  for (const end = Date.now() + limitMs; !(await holds()); await delay(POLL_MS)) if (Date.now() > end) throw new Error(otherwise)
}
