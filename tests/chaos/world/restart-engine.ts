import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, readlink } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const PID_FILE = '/var/run/docker.pid'
const LOOK_MS = 200
/** Containers that do not end at once keep the engine waiting. */
const STOP_MS = 60_000
const START_MS = 60_000

const answers = (): Promise<boolean> =>
  run('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: 15_000 }).then(
    () => true,
    () => false,
  )

/** This machine's container engine: by systemd where it runs, else the very command that runs now, again. Every container on the machine ends. */
export async function restartEngine(): Promise<void> {
  if (existsSync('/run/systemd/system')) await run('systemctl', ['restart', 'docker'])
  else await restartProcess(PID_FILE)
  await until(answers, START_MS, 'The engine was started again and does not answer: run `docker version` to see why.')
}

/** Ends the process that this file names and starts it as it was, in a session of its own. */
export async function restartProcess(pidFile: string): Promise<void> {
  const pid = Number(await readFile(pidFile, 'utf8').catch(() => ''))
  if (!(pid > 1))
    throw new Error(`${pidFile} names no process: restart the engine by hand while the scenario runs, or start it so that it writes one.`)
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

/** One that its parent has not been told of yet has ended all the same. */
const isAlive = (pid: number): Promise<boolean> =>
  readFile(`/proc/${pid}/stat`, 'utf8').then(
    (stat) => !/^\d+ \(.*\) Z/.test(stat),
    () => false,
  )

async function until(holds: () => Promise<boolean>, limitMs: number, otherwise: string): Promise<void> {
  for (const end = Date.now() + limitMs; !(await holds()); await delay(LOOK_MS)) if (Date.now() > end) throw new Error(otherwise)
}
