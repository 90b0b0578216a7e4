import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { availableParallelism, release, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { DEFAULT_SANDBOX } from '../../services/model/tenants/tenant-limits.ts'
import { runCommand } from '../setup/command.ts'
import type { SetupConfig } from '../setup/config.ts'
import { detectEngine } from '../setup/engine.ts'
import { imageTag } from '../../infra/build/image-inputs.ts'
import type { CheckName } from './check-names.ts'
import { fail, ok, warn, type Finding } from './finding.ts'

const PROJECT = dirname(dirname(import.meta.dirname))
const GIB = 1024 ** 3
/** For an image with its layers and cache, some sandboxes, and data. */
const DISK_BYTES = { min: 2 * GIB, recommended: 6 * GIB }
const MIN_MEMORY_BYTES = 2 * GIB

export interface LocalDoctorOptions {
  readonly config: SetupConfig
  readonly host: string
  readonly port: number
}

/** Checks whether this machine can run the service with `npm start`. Changes nothing. */
export async function checkLocally({ config, host, port }: LocalDoctorOptions): Promise<readonly Finding[]> {
  const engine = await detectEngine(config, true)
  const { env, version } = engine
  return [
    checkNode(process.versions.node),
    checkPackages(),
    checkMachine(totalmem(), availableParallelism()),
    ...(process.platform === 'linux' ? [checkKernel(release())] : []),
    version === undefined ? fail('Docker', sentenceOf(engine.decision)) : checkEngineVersion(version),
    ...(version === undefined ? [] : [await checkEngineFeatures(env), await checkImage(env), checkSandboxFiles()]),
    await checkPort(host, port),
    await checkDisk('Disk', PROJECT),
    ...(version === undefined ? [] : await checkEngineDisk(env)),
  ]
}

/** The folders of a sandbox: which limit holds them, and where they are. */
export function checkSandboxFiles(): Finding {
  const size = `${DEFAULT_SANDBOX.diskBytes / GIB} GiB and ${DEFAULT_SANDBOX.inodes} files by default`
  return ok('Sandbox files', `/mnt/data is in memory, ${size}. Docker has no volume on disk with a hard limit of bytes and of files.`)
}

/** TypeScript without a build step and `process.execve` need 24.2. */
export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNew = major > 24 || (major === 24 && minor >= 2)
  return isNew
    ? ok('Node', `${version} at ${process.execPath}`)
    : fail('Node', `${version} is too old. Install Node 24.2 or newer, or run any npm command of this project, which installs it.`)
}

const checkPackages = (): Finding =>
  existsSync(join(PROJECT, 'node_modules', '.package-lock.json'))
    ? ok('Packages', 'installed')
    : warn('Packages', 'not installed yet. The next npm command of this project installs them; npm ping checks the registry.')

function checkMachine(memoryBytes: number, cores: number): Finding {
  const summary = `${(memoryBytes / GIB).toFixed(1)} GiB of memory, ${cores} core${cores === 1 ? '' : 's'}`
  return memoryBytes < MIN_MEMORY_BYTES
    ? warn('Machine', `${summary}. A warm sandbox takes about 120 MiB and the server 250: set CELLBLOCK_POOL=0 or 1.`)
    : ok('Machine', summary)
}

/** The scheduler of some versions lets one control group starve the others; docs/adr/0090-processor-credits.md names the fault and its repair. */
export function checkKernel(version: string): Finding {
  const [major, minor, patch = 0] = version.split(/[.-]/).map(Number)
  return major === 6 && minor === 18 && patch < 45
    ? warn(
        'Kernel',
        `Linux ${version} can let code with many threads delay the code of other sandboxes by seconds. Update it to 6.18.45 or later.`,
      )
    : ok('Kernel', `Linux ${version}`)
}

const sentenceOf = (decision: Awaited<ReturnType<typeof detectEngine>>['decision']): string =>
  decision.kind === 'refuse'
    ? decision.message
    : `No Docker engine answers. npm start ${decision.kind === 'install' ? 'installs one with apt-get and starts it' : 'starts the installed one'}.`

export function checkEngineVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 20 || (major === 20 && minor >= 10)
    ? ok('Docker', `engine ${version}`)
    : fail('Docker', `engine ${version} is older than 20.10, the oldest supported version. Update it.`)
}

/** The engine's layer: without seccomp and limits, a sandbox has only the supervisor's layer. */
async function checkEngineFeatures(env: NodeJS.ProcessEnv): Promise<Finding> {
  const { code, stdout, output } = await runCommand('docker', ['info', '--format', '{{json .}}'], { env, timeoutSeconds: 15 })
  if (code !== 0) return fail('Engine', `docker info fails: ${firstLine(output)}`)
  const info = JSON.parse(stdout) as {
    readonly OSType?: string
    readonly SecurityOptions?: readonly string[]
    readonly MemoryLimit?: boolean
    readonly PidsLimit?: boolean
  }
  if (info.OSType !== undefined && info.OSType !== 'linux')
    return fail('Engine', `runs ${info.OSType} containers. Switch Docker Desktop to Linux containers.`)
  const missing = [
    ...((info.SecurityOptions ?? []).some((option) => option.includes('name=seccomp')) ? [] : ['seccomp']),
    ...(info.MemoryLimit === false ? ['memory limits'] : []),
    ...(info.PidsLimit === false ? ['process limits'] : []),
  ]
  return missing.length === 0
    ? ok('Engine', 'has seccomp, memory and process limits')
    : fail(
        'Engine',
        `has no ${missing.join(' and no ')}: sandboxes would lack an isolation layer. Use a kernel and an engine with cgroups and seccomp.`,
      )
}

async function checkImage(env: NodeJS.ProcessEnv): Promise<Finding> {
  const tag = await imageTag(join(PROJECT, 'runtime-image'), { variant: 'slim' })
  const { code } = await runCommand('docker', ['image', 'inspect', '--format', '{{.Id}}', tag], { env, timeoutSeconds: 15 })
  return code === 0
    ? ok('Sandbox image', `${tag} is built`)
    : warn('Sandbox image', `${tag} is not built yet. npm start or npm run image builds it in about two minutes.`)
}

/** Opens and closes a listening socket, as the server would. */
async function checkPort(host: string, port: number): Promise<Finding> {
  const problem = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen(port, host, () => server.close(() => resolve(null)))
  })
  if (problem === null) return ok('Port', `${host}:${port} is free`)
  if (problem.code === 'EADDRINUSE')
    return (await isCellblockServer(host, port))
      ? ok('Port', `${host}:${port}: a Cellblock server answers there`)
      : fail('Port', `${host}:${port} is taken by another program. Stop it, or choose another one: PORT=${port + 1} npm start.`)
  if (problem.code === 'EACCES') return fail('Port', `${host}:${port}: permission denied. Choose a port above 1023: PORT=8787 npm start.`)
  return fail('Port', `${host}:${port} cannot be used: ${problem.message}. HOST must be an address of this machine.`)
}

async function isCellblockServer(host: string, port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://${host}:${port}/healthz`, { signal: AbortSignal.timeout(2_000) })
    return answer.ok && (answer.headers.get('x-request-id') ?? '').startsWith('req_')
  } catch {
    return false
  }
}

export function evaluateDisk(what: CheckName, path: string, freeBytes: number): Finding {
  const free = `${(freeBytes / GIB).toFixed(1)} GiB free at ${path}`
  if (freeBytes < DISK_BYTES.min)
    return fail(what, `${free}: the image needs 2 GiB. Free some space (docker system df shows Docker's part).`)
  return freeBytes < DISK_BYTES.recommended ? warn(what, `${free}: enough to start, little space for data.`) : ok(what, free)
}

async function checkDisk(what: CheckName, path: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(path)
  return evaluateDisk(what, path, bavail * bsize)
}

/** Checks the engine's image folder, if it is on this machine. */
async function checkEngineDisk(env: NodeJS.ProcessEnv): Promise<readonly Finding[]> {
  const { stdout } = await runCommand('docker', ['info', '--format', '{{.DockerRootDir}}'], { env, timeoutSeconds: 15 })
  const folder = stdout.trim()
  return folder !== '' && existsSync(folder) ? [await checkDisk('Image disk', folder)] : []
}

const firstLine = (text: string): string => text.trim().split('\n')[0] ?? ''
