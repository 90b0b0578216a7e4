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
  /** Where a started engine writes its log. */
  readonly logFile: string
  readonly startTimeoutSeconds?: number
}

/** The machine as far as an engine's installation depends on it. */
export interface EngineHost {
  readonly platform: NodeJS.Platform
  readonly isRoot: boolean
  /** ID and ID_LIKE of /etc/os-release. */
  readonly distributions: readonly string[]
  readonly hasSystemd: boolean
  /** Folders of system programs that a user's PATH may lack. */
  readonly systemPath: readonly string[]
}

export interface Engine {
  readonly version: string
  /** For DOCKER_HOST: contexts of the docker command are unknown to other clients. Undefined means the default socket. */
  readonly host: string | undefined
}

/** An engine that answers, installed and started where `decideEngine` allows it; it outlives this process. */
export async function ensureEngine(
  config: SetupConfig,
  options: EngineOptions,
  progress: Progress,
  host: EngineHost = readHost(),
): Promise<Engine> {
  const { env, version: present, decision } = await lookForEngine(config, options.mayInstall, host)
  if (decision.kind === 'refuse') throw new SetupError(decision.sentence)
  if (decision.kind !== 'use') progress('No Docker engine answers.')
  if (decision.kind === 'install') {
    progress("Installing the distribution's docker.io with apt-get (refuse this with --no-install)")
    await aptInstall(['docker.io'], env, progress)
    if (!isOnPath('docker', env.PATH)) await aptInstall(['docker-cli'], env, progress)
  }
  if (decision.kind !== 'use' && (await askEngine(env)).version === undefined) await startEngine(env, host, options, progress)
  const version = present ?? (await askEngine(env)).version
  if (version === undefined)
    throw new SetupError('The Docker engine was started but does not answer `docker version`. Run that command to see why.')
  return { version, host: config.dockerHost ?? (await contextHost(env)) }
}

/** What is there, and what would be done about it; changes nothing. */
export async function lookForEngine(
  config: SetupConfig,
  mayInstall: boolean,
  host: EngineHost = readHost(),
): Promise<{
  readonly env: NodeJS.ProcessEnv & { readonly PATH: string }
  readonly version: string | undefined
  readonly decision: EngineDecision
}> {
  const env = { ...config.environment, PATH: [config.environment['PATH'], ...host.systemPath].join(delimiter) }
  const { version, complaint } = await askEngine(env)
  const decision = decideEngine({
    answers: version !== undefined,
    complaint,
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

async function askEngine(env: NodeJS.ProcessEnv): Promise<{ readonly version: string | undefined; readonly complaint: string }> {
  const { code, stdout, output } = await runCommand('docker', ['version', '--format', '{{.Server.Version}}'], { env, timeoutSeconds: 15 })
  return { version: code === 0 && stdout.trim() !== '' ? stdout.trim() : undefined, complaint: output }
}

async function contextHost(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { code, stdout } = await runCommand('docker', ['context', 'inspect', '--format', '{{.Endpoints.docker.Host}}'], {
    env,
    timeoutSeconds: 15,
  })
  const host = stdout.trim()
  return code === 0 && host !== '' && host !== 'unix:///var/run/docker.sock' ? host : undefined
}

/** By systemd where it runs; else detached, in a session of its own, so that no signal to us reaches it. */
async function startEngine(env: NodeJS.ProcessEnv, host: EngineHost, options: EngineOptions, progress: Progress): Promise<void> {
  if (host.hasSystemd) {
    progress('systemctl start docker')
    const result = await runCommand('systemctl', ['start', 'docker'], { env })
    if (result.code === 0) return
  }
  progress(`Starting dockerd; it stays when this command ends. Its log: ${options.logFile}`)
  const log = openSync(options.logFile, 'w')
  const daemon = spawn('dockerd', [], { env, detached: true, stdio: ['ignore', log, log] })
  const ended = Promise.race([once(daemon, 'exit'), once(daemon, 'error')]).then(() => 'ended' as const)
  const deadline = performance.now() + (options.startTimeoutSeconds ?? 60) * 1000
  // One that ends at once may have found another that was just started: the last question decides.
  for (let hasEnded = false; !hasEnded && performance.now() < deadline;) {
    hasEnded = (await Promise.race([ended, wait(250, 'running' as const)])) === 'ended'
    if ((await askEngine(env)).version === undefined) continue
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
