import type Docker from 'dockerode'
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { SandboxSession } from '../../../model/sandboxes/sandbox.ts'
import { DriverError, type SandboxSuspension } from '../../../ports/sandbox-driver.ts'
import type { Supervisor } from '../../../ports/supervisor.ts'
import type { Checkpoints } from './checkpoints.ts'
import { engineStatus } from './engine-error.ts'

/** The supervisor closes its socket within some milliseconds of its answer. */
const CLOSE_TIMEOUT_MS = 5_000
const POLL_MS = 3

interface SuspensionPorts {
  readonly docker: Docker
  readonly checkpoints: Checkpoints
  readonly supervisor: Pick<Supervisor, 'suspend'>
}

/**
 * Suspends sandboxes on gVisor. The engine keeps the stopped container, whose name is the sandbox's id, and the container starts from the checkpoint: so one
 * name never has two copies of its processes.
 */
export class DockerSuspension implements SandboxSuspension {
  readonly #ports: SuspensionPorts
  /** A message that is delivered twice must not write two checkpoints. */
  readonly #suspending = new Map<string, Promise<{ readonly bytes: number }>>()

  constructor(ports: SuspensionPorts) {
    this.#ports = ports
  }

  suspend(session: SandboxSession, checkpointId: string): Promise<{ readonly bytes: number }> {
    const { sandboxId } = session
    const known =
      this.#suspending.get(sandboxId) ??
      this.#suspend(session, checkpointId)
        .catch(refused)
        .finally(() => this.#suspending.delete(sandboxId))
    this.#suspending.set(sandboxId, known)
    return known
  }

  resume(sandboxId: string, checkpointId: string): Promise<void> {
    return this.#resume(sandboxId, checkpointId).catch(refused)
  }

  async #resume(sandboxId: string, checkpointId: string): Promise<void> {
    const { docker, checkpoints } = this.#ports
    const container = docker.getContainer(sandboxId)
    const { Id, State } = await container.inspect()
    if (State.Running && (await checkpoints.wasUsed(Id, checkpointId))) return
    await checkpoints.use(Id, checkpointId)
    await container.start()
    await checkpoints.forget(Id)
  }

  async #suspend(session: SandboxSession, checkpointId: string): Promise<{ readonly bytes: number }> {
    const { docker, checkpoints, supervisor } = this.#ports
    const container = docker.getContainer(session.sandboxId)
    const { Id, State, HostConfig } = await container.inspect()
    const before = await checkpoints.bytesOf(Id, checkpointId)
    if (before !== null) return { bytes: before }
    if (await checkpoints.wasUsed(Id, checkpointId)) throw new DriverError('unavailable', 'This checkpoint was resumed already.')
    if (!State.Running) throw new DriverError('unavailable', 'The sandbox has ended and left no checkpoint.')
    await checkpoints.demandSpace(HostConfig.Memory ?? 0)
    await supervisor.suspend(session)
    await untilClosed(session)
    await checkpoints.write(Id, checkpointId).catch((cause: unknown) => {
      const detail = cause instanceof Error ? cause.message.slice(0, 500) : String(cause)
      throw new DriverError('unavailable', `gVisor could not write a checkpoint: ${detail}`, { cause })
    })
    // The next start needs a container that has ended.
    await container.wait()
    return { bytes: (await checkpoints.bytesOf(Id, checkpointId)) ?? 0 }
  }
}

/** An answer of the engine is final: it has no such container, or the runtime cannot restore the checkpoint. Without an answer the call may be repeated. */
function refused(cause: unknown): never {
  if (engineStatus(cause) === null) throw cause
  throw new DriverError('unavailable', `The engine refused: ${cause instanceof Error ? cause.message.slice(0, 500) : ''}`, { cause })
}

/** gVisor cannot save a socket that is bound in a folder of the host. Its name disappears when it and all its connections are closed. */
async function untilClosed({ address }: SandboxSession): Promise<void> {
  if (address.kind !== 'unix') throw new DriverError('configuration', 'Only a sandbox with a Unix socket can be suspended.')
  const deadline = performance.now() + CLOSE_TIMEOUT_MS
  while (existsSync(address.socketPath)) {
    if (performance.now() > deadline) throw new DriverError('unavailable', 'The supervisor did not close its socket.')
    await delay(POLL_MS)
  }
}
