import type Docker from 'dockerode'
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { SandboxSession } from '../../../model/sandboxes/sandbox.ts'
import { DriverError, type SandboxDriver, type SandboxStatus, type SandboxSuspension } from '../../../ports/sandbox-driver.ts'
import type { Supervisor } from '../../../ports/supervisor.ts'
import type { CheckpointIdentity, Checkpoints } from './checkpoints.ts'
import { copiedOptions } from './container-options.ts'
import { createFile, resumptionMark, type ControlFolders } from './control-folder.ts'
import { engineStatus } from './engine-error.ts'
import { untilReady } from './until-ready.ts'

/** The supervisor closes its socket within some milliseconds of its answer, on an overloaded machine later. If it does not, the processes are lost. */
const CLOSE_TIMEOUT_MS = 30_000
const POLL_MS = 1

interface SuspensionPorts {
  readonly docker: Docker
  readonly checkpoints: Checkpoints
  readonly supervisor: Pick<Supervisor, 'health' | 'suspend'>
  readonly folders: ControlFolders
  readonly waitReady: SandboxDriver['waitReady']
}

/**
 * Suspends sandboxes on gVisor. The engine keeps the stopped container, whose name is the sandbox's id, and the container starts from the checkpoint: so one
 * name never has two copies of its processes.
 */
export class DockerSuspension implements SandboxSuspension {
  readonly #ports: SuspensionPorts
  /** A message that is delivered twice must not write two checkpoints. */
  readonly #suspending = new Map<string, Promise<{ readonly bytes: number }>>()

  /** Starts that the engine has not answered yet. */
  readonly #starting = new Map<string, Promise<unknown>>()

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

  resume(sandboxId: string, checkpointId: string, signal: AbortSignal): Promise<SandboxStatus> {
    return this.#resume(sandboxId, { checkpointId, signal }).catch(refused)
  }

  /** The copy is a container of the engine with the same options, because gVisor restores into the form that it has saved. */
  copy(
    from: { readonly sandboxId: string; readonly checkpointId: string },
    to: { readonly sandboxId: string; readonly publicKey: string },
  ): Promise<{ readonly bytes: number }> {
    return this.#copy(from, to).catch(refused)
  }

  async #copy(
    from: { readonly sandboxId: string; readonly checkpointId: string },
    { sandboxId, publicKey }: { readonly sandboxId: string; readonly publicKey: string },
  ): Promise<{ readonly bytes: number }> {
    const { docker, checkpoints, folders } = this.#ports
    const { checkpointId } = from
    const source = await docker.getContainer(from.sandboxId).inspect()
    await docker.createContainer(copiedOptions(source, { sandboxId, controlFolder: await folders.make(sandboxId) })).catch(unlessNamesake)
    const { Id, State } = await docker.getContainer(sandboxId).inspect()
    const before = await checkpoints.bytesOf(Id, checkpointId)
    if (before !== null) return { bytes: before }
    if (State.Status !== 'created') throw new DriverError('unavailable', 'The copy was resumed already.')
    const identity = { sandbox_id: sandboxId, public_key: publicKey }
    await checkpoints.copy({ containerId: source.Id, checkpointId }, { containerId: Id, identity })
    return { bytes: (await checkpoints.bytesOf(Id, checkpointId)) ?? 0 }
  }

  /** The engine reports a container that resumes as ended until its start returns, which is later than the first answer of the supervisor. */
  async settled(sandboxId: string): Promise<void> {
    await this.#starting.get(sandboxId)?.catch(() => undefined)
  }

  async #resume(
    sandboxId: string,
    { checkpointId, signal }: { readonly checkpointId: string; readonly signal: AbortSignal },
  ): Promise<SandboxStatus> {
    const { docker, checkpoints, waitReady } = this.#ports
    await this.settled(sandboxId)
    const container = docker.getContainer(sandboxId)
    const { Id, State } = await container.inspect()
    const isResumed = State.Running && (await checkpoints.wasUsed(Id, checkpointId))
    // The engine notices some tenths of a second after the checkpoint that the processes ended, and starts only what has ended.
    if (State.Running && !isResumed && (await checkpoints.bytesOf(Id, checkpointId)) !== null) await container.wait()
    const identity = isResumed ? undefined : await checkpoints.use(Id, checkpointId)
    const status = await (isResumed ? waitReady(sandboxId, signal) : this.#start(sandboxId, { identity, signal }))
    // Before any code runs: these processes never continue from there again.
    await checkpoints.forget(Id)
    return status
  }

  /** Starts the engine's container, and waits for the supervisor or the engine, whichever answers first. */
  async #start(
    sandboxId: string,
    { identity, signal }: { readonly identity: CheckpointIdentity | undefined; readonly signal: AbortSignal },
  ): Promise<SandboxStatus> {
    const { docker, supervisor, folders, waitReady } = this.#ports
    const address = { kind: 'unix', socketPath: folders.socketOf(sandboxId) } as const
    await folders.make(sandboxId)
    await createFile(resumptionMark(address.socketPath), identity === undefined ? '' : JSON.stringify(identity))
    const starting: Promise<unknown> = docker.getContainer(sandboxId).start()
    this.#starting.set(sandboxId, starting)
    const started = starting.finally(() => this.#starting.delete(sandboxId)).then(() => waitReady(sandboxId, signal))
    started.catch(() => undefined)
    const over = new AbortController()
    const answered = untilReady(supervisor, address, AbortSignal.any([signal, over.signal]))
    const ready = answered.then((isReady): SandboxStatus | Promise<SandboxStatus> => (isReady ? { phase: 'ready', address } : started))
    try {
      return await Promise.race([started, ready.catch(() => started)])
    } finally {
      over.abort()
    }
  }

  async #suspend(session: SandboxSession, checkpointId: string): Promise<{ readonly bytes: number }> {
    const { docker, checkpoints, supervisor } = this.#ports
    await this.settled(session.sandboxId)
    const container = docker.getContainer(session.sandboxId)
    const { Id, State, HostConfig } = await container.inspect()
    const before = await checkpoints.bytesOf(Id, checkpointId)
    if (before !== null) return { bytes: before }
    if (await checkpoints.wasUsed(Id, checkpointId)) throw new DriverError('unavailable', 'This checkpoint was resumed already.')
    if (!State.Running) throw new DriverError('unavailable', 'The sandbox has ended and left no checkpoint.')
    await Promise.all([
      checkpoints.prepare(Id, { checkpointId, bytes: HostConfig.Memory ?? 0 }),
      supervisor.suspend(session).then(() => untilClosed(session)),
    ])
    await checkpoints.write(Id, checkpointId).catch((cause: unknown) => {
      const detail = cause instanceof Error ? cause.message.slice(0, 500) : String(cause)
      throw new DriverError('unavailable', `gVisor could not write a checkpoint: ${detail}`, { cause })
    })
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

/** An earlier delivery of the request has made the container. */
function unlessNamesake(cause: unknown): void {
  if (engineStatus(cause) !== 409) throw cause
}
