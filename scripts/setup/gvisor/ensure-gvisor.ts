import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { runCommand } from '../command.ts'
import { SetupError, type Progress } from '../progress.ts'
import { buildRunsc, RUNSC_SOURCES } from './build-runsc.ts'
import { adjustHost } from './host-settings.ts'

/** The engine's name of the runtime. Names that begin with `runsc` get the self-test's profile `gvisor`. */
export const GVISOR_RUNTIME = 'runsc-cellblock'

/**
 * `--host-uds=create`: the supervisor may create its control socket in the folder that it shares with the host, and connect to no other socket of the
 * host. `--network=none`: the sandbox's kernel has no network device. https://gvisor.dev/docs/user_guide/
 */
const RUNTIME_ARGUMENTS = ['--host-uds=create', '--network=none', '--platform=systrap']
const PROGRAMS = '/usr/local/lib/cellblock'
/** What the engine runs: it starts runsc, and resumes suspended sandboxes. */
const RESUMING_RUNSC = join(import.meta.dirname, 'resuming-runsc.sh')
const ENGINE_SETTINGS = '/etc/docker/daemon.json'
const ENGINE_PID = '/var/run/docker.pid'
const RELOAD_SECONDS = 20

interface GvisorOptions {
  readonly mayInstall: boolean
  /** The engine's address if it is not the default socket of this machine. */
  readonly dockerHost: string | undefined
  readonly env: NodeJS.ProcessEnv
}

/**
 * Builds runsc if it is missing, registers the program that runs it with the engine of this machine, and adjusts the host's kernel for it. Idempotent. Returns
 * the runtime's name. Throws SetupError.
 */
export async function ensureGvisor({ mayInstall, dockerHost, env }: GvisorOptions, progress: Progress): Promise<string> {
  const adjusted = mayInstall && dockerHost === undefined ? await adjustHost() : null
  if (adjusted !== null) progress(`Setting ${adjusted.path} to ${adjusted.to} until the next boot: gVisor starts and resumes faster`)
  const runsc = join(PROGRAMS, `runsc-${await hashOf(RUNSC_SOURCES)}`)
  const program = `${runsc}-resuming-${await hashOf([RESUMING_RUNSC])}`
  if ((await registeredPath(env)) === program && existsSync(program) && existsSync(runsc)) return GVISOR_RUNTIME
  if (!mayInstall)
    throw new SetupError(`The engine has no runtime ${GVISOR_RUNTIME}, and --no-install forbids building and registering it.`)
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || dockerHost !== undefined)
    throw new SetupError(
      `--runtime gvisor builds runsc and adds it to ${ENGINE_SETTINGS} of this machine's engine. That needs Linux, root and the engine's own socket. Register runsc yourself (docs/threat-model.md, gVisor) and set SANDBOX_DOCKER_RUNTIME to its name.`,
    )
  if (!existsSync(runsc)) await buildRunsc(runsc, env, progress)
  await writeProgram(program, (await readFile(RESUMING_RUNSC, 'utf8')).replace('@RUNSC@', runsc))
  progress(`Adding the runtime ${GVISOR_RUNTIME} to ${ENGINE_SETTINGS}`)
  await writeEngineSettings(program)
  await reloadEngine(env)
  for (const deadline = performance.now() + RELOAD_SECONDS * 1000; performance.now() < deadline; await wait(250))
    if ((await registeredPath(env)) === program) return GVISOR_RUNTIME
  throw new SetupError(`The engine did not read ${ENGINE_SETTINGS} again. Restart it and run the command again.`)
}

/** Of runsc it changes with the version of gVisor or of a module that it is built from. */
async function hashOf(paths: readonly string[]): Promise<string> {
  const files = await Promise.all(paths.map((path) => readFile(path)))
  return createHash('sha256').update(Buffer.concat(files)).digest('hex').slice(0, 12)
}

async function writeProgram(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`
  await writeFile(temporary, text, { mode: 0o755 })
  await rename(temporary, path)
}

/** The path of the runtime in the running engine. */
async function registeredPath(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { code, stdout } = await runCommand('docker', ['info', '--format', '{{json .Runtimes}}'], { env, timeoutSeconds: 15 })
  if (code !== 0) return undefined
  const runtimes = JSON.parse(stdout) as Readonly<Record<string, { readonly path?: string }>>
  return runtimes[GVISOR_RUNTIME]?.path
}

async function writeEngineSettings(program: string): Promise<void> {
  const text = existsSync(ENGINE_SETTINGS) ? await readFile(ENGINE_SETTINGS, 'utf8') : ''
  await mkdir(dirname(ENGINE_SETTINGS), { recursive: true })
  const temporary = `${ENGINE_SETTINGS}.cellblock`
  await writeFile(temporary, withGvisor(text, program))
  await rename(temporary, ENGINE_SETTINGS)
}

/** The engine's settings, which may be empty, with the runtime; every other setting stays. Throws SetupError. */
export function withGvisor(text: string, program: string): string {
  const settings = parseSettings(text)
  const { runtimes = {} } = settings
  if (typeof runtimes !== 'object') throw invalidSettings('runtimes is no object')
  const changed = { ...settings, runtimes: { ...runtimes, [GVISOR_RUNTIME]: { path: program, runtimeArgs: RUNTIME_ARGUMENTS } } }
  return `${JSON.stringify(changed, null, 2)}\n`
}

function parseSettings(text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch (error) {
    throw invalidSettings(String(error))
  }
}

const invalidSettings = (why: string): SetupError =>
  new SetupError(`The engine cannot read ${ENGINE_SETTINGS} (${why}). Correct it and run the command again.`)

/** dockerd reads `runtimes` again on SIGHUP; running containers continue. https://docs.docker.com/reference/cli/dockerd/#configuration-reload-behavior */
async function reloadEngine(env: NodeJS.ProcessEnv): Promise<void> {
  if (existsSync(ENGINE_PID)) return void process.kill(Number(await readFile(ENGINE_PID, 'utf8')), 'SIGHUP')
  await runCommand('systemctl', ['reload', 'docker'], { env })
}
