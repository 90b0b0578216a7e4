// Runs the emulator until the process that holds its standard input ends, in any way. Then it removes everything that the emulator created:
// functions, tasks, their disks, names of images, the folder. Usage: ministack-child.ts PYTHON FOLDER PORT ACCOUNT
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm, symlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const PROJECT = join(import.meta.dirname, '../../..')
/** So long may the emulator take to stop its tasks, milliseconds. */
const STOP_MS = 20_000
const [python = '', folder = '', port = '', account = ''] = process.argv.slice(2)
const labelled = ['--filter', `label=ministack.instance=${hostname()}:${port}`]

const docker = async (...args: readonly string[]): Promise<string[]> => {
  const { stdout } = await promisify(execFile)('docker', args).catch((error: unknown) => {
    console.error(error)
    return { stdout: '' }
  })
  return stdout.split(/\s+/).filter(Boolean)
}

/** The emulator removes the container of a task and leaves its disk behind, so disks are noted while they have one. */
const disks = new Set<string>()
const creations = spawn('docker', ['events', ...labelled, '--filter', 'event=create', '--format', '{{.ID}}'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
createInterface({ input: creations.stdout }).on('line', (id) => {
  void docker('inspect', '--format', '{{range .Mounts}}{{.Name}} {{end}}', id).then((names) => {
    for (const name of names) disks.add(name)
  })
})

/** Lambda's runtimes contain the AWS SDK, and nothing else of this project. */
const runtimePackages = join(folder, 'runtime', 'node_modules')
await mkdir(runtimePackages, { recursive: true })
await symlink(join(PROJECT, 'node_modules', '@aws-sdk'), join(runtimePackages, '@aws-sdk'))

const emulator = spawn(python, ['-m', 'ministack'], {
  cwd: folder,
  // A separate process group: functions are its children, and none outlives it.
  detached: true,
  stdio: ['ignore', 'inherit', 'inherit'],
  env: {
    // Functions inherit all of this: nothing of the caller's but where programs are.
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: folder,
    TMPDIR: folder,
    ...(process.env['DOCKER_HOST'] === undefined ? {} : { DOCKER_HOST: process.env['DOCKER_HOST'] }),
    NODE_OPTIONS: `--require ${join(import.meta.dirname, 'streaming-runtime.cjs')} --disable-warning=DEP0169`,
    NODE_PATH: runtimePackages,
    PYTHONPATH: join(import.meta.dirname, 'lambda-python'),
    GATEWAY_PORT: port,
    BIND_HOST: '127.0.0.1',
    MINISTACK_HOST: '127.0.0.1',
    MINISTACK_ACCOUNT_ID: account,
    IOT_MTLS_ENABLED: '0',
    SFTP_ENABLED: '0',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    NO_PROXY: '127.0.0.1,localhost',
  },
})
const ended = once(emulator, 'exit')

process.stdin.resume()
await Promise.race([ended, once(process.stdin, 'close'), once(process, 'SIGTERM'), once(process, 'SIGINT')])
emulator.kill('SIGTERM')
const isLate = setTimeout(() => emulator.kill('SIGKILL'), STOP_MS)
await ended
clearTimeout(isLate)
try {
  if (emulator.pid !== undefined) process.kill(-emulator.pid, 'SIGKILL')
} catch {
  // No process of the group is left.
}
const tasks = await docker('ps', '--all', '--quiet', ...labelled)
if (tasks.length > 0) await docker('rm', '--force', '--volumes', ...tasks)
creations.kill()
const left = (await docker('volume', 'ls', '--quiet', '--filter', 'dangling=true')).filter((name) => disks.has(name))
if (left.length > 0) await docker('volume', 'rm', ...left)
const references = [`${account}.dkr.ecr.*/*/*`, `${account}.dkr.ecr.*/*`].flatMap((reference) => ['--filter', `reference=${reference}`])
const names = await docker('images', '--format', '{{.Repository}}:{{.Tag}}', ...references)
if (names.length > 0) await docker('rmi', '--no-prune', ...names)
await rm(folder, { recursive: true, force: true, maxRetries: 5 })
