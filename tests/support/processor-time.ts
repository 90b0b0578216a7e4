import { execFile } from 'node:child_process'
import { open, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Opens the processor-time counter of a container's control group, version 1 or 2, on this host. */
export async function openProcessorTime(container: string): Promise<AsyncDisposable & { readonly readMs: () => Promise<number> }> {
  const { stdout } = await promisify(execFile)('docker', ['inspect', '--format', '{{.State.Pid}}', container])
  const groups = (await readFile(`/proc/${stdout.trim()}/cgroup`, 'utf8')).trim().split('\n')
  const pathOf = (isWanted: (controllers: string) => boolean): string | undefined =>
    groups.map((line) => line.split(':')).find(([, controllers = '']) => isWanted(controllers))?.[2]
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n').map((line) => line.split(' '))
  const v1 = mounts.find(([, , type, options = '']) => type === 'cgroup' && options.split(',').includes('cpuacct'))?.[1]
  const v2 = mounts.find(([, , type]) => type === 'cgroup2')?.[1]
  const file = await open(
    v1 === undefined
      ? `${v2}${pathOf((controllers) => controllers === '')}/cpu.stat`
      : `${v1}${pathOf((controllers) => controllers.split(',').includes('cpuacct'))}/cpuacct.usage`,
  )
  return {
    readMs: async () => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(4096), 0, 4096, 0)
      const text = buffer.toString('utf8', 0, bytesRead)
      return v1 === undefined ? Number(/usage_usec (\d+)/.exec(text)?.[1]) / 1_000 : Number(text) / 1_000_000
    },
    [Symbol.asyncDispose]: () => file.close(),
  }
}
