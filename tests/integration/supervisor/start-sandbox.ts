import { execFile } from 'node:child_process'
import { generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import { SupervisorCaller } from './supervisor-caller.ts'

const run = promisify(execFile)

/** The options every sandbox runs with; a test takes one away or adds one to see the supervisor refuse. */
export const SECURE_OPTIONS: readonly string[] = [
  '--network=none',
  '--read-only',
  '--cap-drop=ALL',
  '--cap-add=SETUID',
  '--cap-add=SETGID',
  '--cap-add=KILL',
  '--security-opt=no-new-privileges',
  '--cgroupns=private',
  '--pids-limit=256',
  '--memory=900m',
  '--memory-swap=900m',
  '--cpus=1',
  '--log-driver=json-file',
  '--shm-size=32m',
  '--tmpfs=/mnt/data:rw,nosuid,nodev,exec,size=128m,uid=10001,gid=10001,mode=0770',
  '--tmpfs=/tmp:rw,nosuid,nodev,exec,size=64m,mode=1777',
  '--tmpfs=/home/worker:rw,nosuid,nodev,exec,size=16m,uid=10001,gid=10001,mode=0700',
  '--tmpfs=/run/worker:size=4m,uid=10001,gid=10001,mode=0770',
  '--tmpfs=/run/network:size=256k,mode=0755',
  '--tmpfs=/run/cellblock:size=4m,mode=0700',
]

export interface SandboxOptions {
  /** Default SECURE_OPTIONS. */
  readonly options?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Over the defaults, and without preloaded modules. */
  readonly limits?: Readonly<Record<string, unknown>>
  readonly profile?: string
  /** Default: the image of the tests, and their label. */
  readonly image?: string
  readonly label?: string
}

export interface TestSandbox extends AsyncDisposable {
  readonly id: string
  readonly name: string
  readonly privateKey: KeyObject
  /** The supervisor's socket on this machine. */
  readonly socketPath: string
  readonly supervisor: SupervisorCaller
  /** Resolves with the exit code and what the supervisor wrote to standard error, once it ended. */
  ended(): Promise<{ readonly code: number; readonly errors: string }>
  /** Resident memory of the supervisor process in bytes. */
  supervisorMemoryBytes(): Promise<number>
  docker(...parameters: readonly string[]): Promise<string>
}

const docker = async (...parameters: readonly string[]): Promise<string> =>
  (await run('docker', [...parameters], { maxBuffer: 64 * 1024 * 1024 })).stdout

/** Starts a sandbox as the Docker driver does; does not wait until it is ready. */
export async function startSandbox({
  options = SECURE_OPTIONS,
  environment = {},
  limits = {},
  profile = 'docker',
  image = inject('sandboxImage'),
  label = inject('testLabel'),
}: SandboxOptions = {}): Promise<TestSandbox> {
  const id = `sbx_${randomBytes(8).toString('hex')}`
  const name = `cellblock-supervisor-test-${id.slice(4)}`
  const folder = await mkdtemp(join(tmpdir(), 'cbs-'))
  const control = join(folder, 'c')
  await mkdir(control)
  // Root in the sandbox has no right to override these modes; the folder above keeps other users of this host out.
  await chmod(control, 0o777)
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const variables = {
    CELLBLOCK_SANDBOX_ID: id,
    CELLBLOCK_PUBLIC_KEY: String(publicKey.export({ format: 'jwk' }).x),
    CELLBLOCK_LISTEN: 'unix:/run/cellblock/control/supervisor.sock',
    CELLBLOCK_PROFILE: profile,
    // Importing the data stack would take longer than the rest of the start.
    CELLBLOCK_LIMITS: JSON.stringify({ preload: [], ...limits }),
    ...environment,
  }
  await docker(
    'run',
    '--detach',
    '--name',
    name,
    '--label',
    label,
    ...options,
    '--volume',
    `${control}:/run/cellblock/control`,
    ...Object.entries(variables).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    image,
  )
  const supervisor = new SupervisorCaller(join(control, 'supervisor.sock'), id, privateKey)
  return {
    id,
    name,
    privateKey,
    socketPath: join(control, 'supervisor.sock'),
    supervisor,
    docker,
    async ended() {
      const code = Number((await docker('wait', name)).trim())
      return { code, errors: (await run('docker', ['logs', name])).stderr }
    },
    async supervisorMemoryBytes() {
      const lines = (await docker('top', name, '-eo', 'pid,rss,args'))
        .split('\n')
        .filter((line) => line.endsWith('-m cellblock_supervisor'))
      return 1024 * Math.max(...lines.map((line) => Number(line.trim().split(/\s+/)[1])))
    },
    async [Symbol.asyncDispose]() {
      await supervisor.close()
      await docker('rm', '--force', name)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A sandbox that says `ready`. Throws with the supervisor's standard error when it does not. */
export async function startReadySandbox(options: SandboxOptions = {}): Promise<TestSandbox> {
  const sandbox = await startSandbox(options)
  try {
    const health = await sandbox.supervisor.untilDecided()
    if (health.state === 'ready') return sandbox
    throw new Error(`The sandbox is ${health.state}: ${health.refused.join(', ')}`)
  } catch (error) {
    const logs = await run('docker', ['logs', sandbox.name])
    await sandbox[Symbol.asyncDispose]()
    throw new Error(`No sandbox: ${logs.stderr}`, { cause: error })
  }
}
