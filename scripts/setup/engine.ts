import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { aptInstall } from './apt.ts'
import { runCommand } from './command.ts'
import type { SetupConfig } from './config.ts'
import { decideEngine, type EngineDecision } from './engine-decision.ts'
import { SetupError, type Progress } from './progress.ts'

export interface EngineOptions {
  readonly mayInstall: boolean
  /** Log file of an engine that this command starts. */
  readonly logFile: string
  readonly startTimeoutSeconds?: number
}

/** Properties of the machine that decide how an engine is installed. */
export interface EngineHost {
  readonly platform: NodeJS.Platform
  readonly isRoot: boolean
  /** ID and ID_LIKE of /etc/os-release. */
  readonly distributions: readonly string[]
  readonly hasSystemd: boolean
  /** System program folders that a user's PATH may lack. */
  readonly systemPath: readonly string[]
}

export interface Engine {
  readonly version: string
  /** Value of DOCKER_HOST, because other clients ignore docker contexts. Undefined means the default socket. */
  readonly host: string | undefined
}

/** Returns a running engine; installs and starts one where `decideEngine` allows it. The engine outlives this process. */
export async function ensureEngine(
  config: SetupConfig,
  options: EngineOptions,
  { progress, host = readHost() }: { readonly progress: Progress; readonly host?: EngineHost },
): Promise<Engine> {
  const { env, version: present, decision } = await detectEngine(config, options.mayInstall, host)
  if (decision.kind === 'refuse') throw new SetupError(decision.message)
  if (decision.kind !== 'use') progress('No Docker engine answers.')
  if (decision.kind === 'install') {
    progress("Installing the distribution's docker.io with apt-get (refuse this with --no-install)")
    await aptInstall(['docker.io'], env, progress)
    if (!isOnPath('docker', env.PATH)) await aptInstall(['docker-cli'], env, progress)
  }
  if (decision.kind !== 'use' && (await queryEngine(env)).version === undefined) await startEngine(options, { env, host, progress })
  const version = present ?? (await queryEngine(env)).version
  if (version === undefined)
    throw new SetupError('The Docker engine was started but does not answer `docker version`. Run that command to see why.')
  return { version, host: config.dockerHost ?? (await contextHost(env)) }
}

/** What is there, and what would be done about it; changes nothing. */
export async function detectEngine(
  config: SetupConfig,
  mayInstall: boolean,
  host: EngineHost = readHost(),
): Promise<{
  readonly env: NodeJS.ProcessEnv & { readonly PATH: string }
  readonly version: string | undefined
  readonly decision: EngineDecision
}> {
  const env = { ...config.environment, PATH: [config.environment['PATH'], ...host.systemPath].join(delimiter) }
  const { version, errorOutput } = await queryEngine(env)
  const decision = decideEngine({
    isRunning: version !== undefined,
    errorOutput,
    dockerHost: config.dockerHost,
    platform: host.platform,
    isRoot: host.isRoot,
    distributions: host.distributions,
    isDockerdInstalled: isOnPath('dockerd', env.PATH),
    hasDockerCommand: isOnPath('docker', env.PATH),
    mayInstall,
  })
  return { env, version, decision }
}

async function queryEngine(env: NodeJS.ProcessEnv): Promise<{ readonly version: string | undefined; readonly errorOutput: string }> {
  const { code, stdout, output } = await runCommand('docker', ['version', '--format', '{{.Server.Version}}'], { env, timeoutSeconds: 15 })
  return { version: code === 0 && stdout.trim() !== '' ? stdout.trim() : undefined, errorOutput: output }
}

async function contextHost(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { code, stdout } = await runCommand('docker', ['context', 'inspect', '--format', '{{.Endpoints.docker.Host}}'], {
    env,
    timeoutSeconds: 15,
  })
  const host = stdout.trim()
  return code === 0 && host !== '' && host !== 'unix:///var/run/docker.sock' ? host : undefined
}

/** Starts the engine with systemd, else detached in its own session, so that it receives no signal of ours. */
async function startEngine(
  options: EngineOptions,
  { env, host, progress }: { readonly env: NodeJS.ProcessEnv; readonly host: EngineHost; readonly progress: Progress },
): Promise<void> {
  if (host.hasSystemd) {
    progress('systemctl start docker')
    const result = await runCommand('systemctl', ['start', 'docker'], { env })
    if (result.code === 0) return
  }
  progress(`Starting dockerd; it keeps running after this command. Its log: ${options.logFile}`)
  const log = openSync(options.logFile, 'w')
  const daemon = spawn('dockerd', [], { env, detached: true, stdio: ['ignore', log, log] })
  const ended = Promise.race([once(daemon, 'exit'), once(daemon, 'error')]).then(() => 'ended' as const)
  const deadline = performance.now() + (options.startTimeoutSeconds ?? 60) * 1000
  // dockerd exits at once if another one was just started, so the last query decides.
  for (let hasEnded = false; !hasEnded && performance.now() < deadline;) {
    hasEnded = (await Promise.race([ended, wait(250, 'running' as const)])) === 'ended'
    if ((await queryEngine(env)).version === undefined) continue
    daemon.unref()
    return
  }
  const tail = existsSync(options.logFile) ? readFileSync(options.logFile, 'utf8').trim().split('\n').slice(-8).join('\n') : ''
  throw new SetupError(
    `${tail}\n\nThe Docker engine did not start; its log is ${options.logFile}. Inside a container it needs --privileged: start an engine outside and pass DOCKER_HOST.`,
  )
}

function readHost(): EngineHost {
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : ''
  return {
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    distributions: parseDistributions(release),
    hasSystemd: existsSync('/run/systemd/system'),
    systemPath: ['/usr/sbin', '/sbin'],
  }
}

/** ID and ID_LIKE of an os-release file, without quotes. */
export const parseDistributions = (release: string): string[] =>
  release
    .split('\n')
    .filter((line) => /^ID(_LIKE)?=/.test(line))
    .flatMap((line) =>
      line
        .replace(/^[^=]*=/, '')
        .replaceAll(/["']/g, '')
        .split(' '),
    )

function isOnPath(program: string, path: string): boolean {
  return path.split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, program)))
}
