import { readFile } from 'node:fs/promises'
import type Docker from 'dockerode'

const GROUPS = '/sys/fs/cgroup'

/** Processor time of containers in milliseconds, in a file of the host. */
interface Source {
  readonly path: string
  readonly msOf: (text: string) => number
}

/**
 * Reads how long the processes of containers have computed, from the accounting of Linux: a call to the engine takes a second for it. On hosts that do not show
 * their control groups to this process, such as a virtual machine of Docker Desktop, it is unknown.
 */
export class ProcessorTime {
  readonly #docker: Docker
  readonly #sources = new Map<string, Promise<Source | null>>()

  constructor(docker: Docker) {
    this.#docker = docker
  }

  /** Null when it is unknown. */
  async read(containerName: string): Promise<number | null> {
    const found = this.#sources.get(containerName) ?? this.#find(containerName)
    this.#sources.set(containerName, found)
    try {
      const source = await found
      return source === null ? null : source.msOf(await readFile(source.path, 'utf8'))
    } catch {
      // It does not run at the moment, or is gone.
      this.forget(containerName)
      return null
    }
  }

  forget(containerName: string): void {
    this.#sources.delete(containerName)
  }

  async #find(containerName: string): Promise<Source | null> {
    const { Id, State } = await this.#docker.getContainer(containerName).inspect()
    for (const line of (await readFile(`/proc/${State.Pid}/cgroup`, 'utf8')).split('\n')) {
      const [number, controllers, path] = line.split(':')
      // Version 2 of control groups comes last, and accounts where version 1 does not. Inside a container the same number names another process, in another group.
      if (path?.includes(Id) !== true) continue
      if (controllers?.split(',').includes('cpuacct') === true)
        return { path: `${GROUPS}/cpuacct${path}/cpuacct.usage`, msOf: (text) => Number(text) / 1e6 }
      if (number === '0' && controllers === '')
        return { path: `${GROUPS}${path}/cpu.stat`, msOf: (text) => Number(/usage_usec (\d+)/.exec(text)?.[1]) / 1_000 }
    }
    return null
  }
}
