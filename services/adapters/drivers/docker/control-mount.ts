import { execFile } from 'node:child_process'
import { readFile, readlink, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** One socket. The flags also hold in the sandbox, because a bind mount inherits them. */
const OPTIONS = 'size=64k,nr_inodes=8,mode=0777,nosuid,nodev,noexec'
const TIMEOUT_MS = 10_000
/** The kernel's fixed number of the first PID namespace (PROC_PID_INIT_INO). */
const HOST_PID_NAMESPACE = 'pid:[4026531836]'

/**
 * Mounts a small tmpfs over a control folder, so that a compromised supervisor can neither fill the host's disk nor leave programs or devices
 * there. Resolves with false, and changes nothing, where this process cannot mount something that the engine sees: without root, in a container,
 * or in a service with a mount namespace.
 */
export function mountControlFolder(folder: string): Promise<boolean> {
  // A job that is delivered twice must not mount a second tmpfs over the first: it would hide the socket.
  const known = mounting.get(folder) ?? mountOnce(folder).finally(() => mounting.delete(folder))
  mounting.set(folder, known)
  return known
}

const mounting = new Map<string, Promise<boolean>>()

async function mountOnce(folder: string): Promise<boolean> {
  if (await isMounted(folder)) return true
  if (process.getuid?.() !== 0 || !(await isHostNamespace()) || (await isSlaveMount(folder))) return false
  return run('mount', ['-t', 'tmpfs', '-o', OPTIONS, 'cellblock-control', folder], { timeout: TIMEOUT_MS }).then(
    () => true,
    () => false,
  )
}

/** Does nothing for a folder that is not mounted or does not exist. */
export async function unmountControlFolder(folder: string): Promise<void> {
  if (await isMounted(folder)) await run('umount', ['--lazy', folder], { timeout: TIMEOUT_MS }).catch(() => undefined)
}

async function isMounted(folder: string): Promise<boolean> {
  const [own, parent] = await Promise.all([folder, dirname(folder)].map((path) => stat(path).catch(() => null)))
  return own?.dev !== parent?.dev && own !== null && parent !== null
}

const isHostNamespace = async (): Promise<boolean> => (await readlink('/proc/self/ns/pid').catch(() => '')) === HOST_PID_NAMESPACE

/** In a slave mount (`master:` in proc_pid_mountinfo(5)) a new mount does not reach the host. */
async function isSlaveMount(folder: string): Promise<boolean> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8').catch(() => '')).split('\n').map((line) => line.split(' '))
  const covers = (point: string): boolean => point === '/' || folder === point || folder.startsWith(`${point}/`)
  const nearest = lines
    .filter(([, , , , point = '']) => point !== '' && covers(point))
    .reduce<readonly string[]>((best, line) => ((line[4]?.length ?? 0) >= (best[4]?.length ?? 0) ? line : best), [])
  return nearest.slice(6, nearest.indexOf('-')).some((field) => field.startsWith('master:'))
}
