import type Docker from 'dockerode'
import { setTimeout as delay } from 'node:timers/promises'
import type { ImageCatalogue } from '../../../model/containers/images.ts'
import { DriverError, type SandboxDriver, type SandboxRef, type SandboxStatus, type SandboxSpec } from '../../../ports/sandbox-driver.ts'
import { SupervisorError, type Supervisor } from '../../../ports/supervisor.ts'
import type { SandboxAddress } from '../../../model/sandboxes/sandbox.ts'
import { exitReason } from '../exit-reason.ts'
import { Checkpoints, type CheckpointOptions } from './checkpoints.ts'
import { MIN_SHARES, SANDBOX_LABEL, SHARES_WHEN_READY, STAGE_LABEL, type ContainerPlan } from './container-options.ts'
import { defaultControlRoot, ownControlFolders, type ControlFolders } from './control-folder.ts'
import { createSandboxContainer } from './create-sandbox-container.ts'
import { engineStatus, toDriverError } from './engine-error.ts'
import { DockerSuspension } from './docker-suspension.ts'
import { DEFAULT_LIMITS, withSandboxLimits, type DockerLimits } from './limits.ts'
import { ProcessorTime } from './processor-time.ts'
import { DOCKER_PROFILE } from './profile.ts'
import { removeContainer } from './remove-container.ts'
import { readSeccompProfile } from './seccomp-profile.ts'
import { untilReady } from './until-ready.ts'

export interface DockerDriverOptions {
  readonly docker: Docker
  readonly images: ImageCatalogue
  /** Sandboxes of other stages on the same engine are never seen. */
  readonly stage: string
  readonly supervisor: Pick<Supervisor, 'health' | 'suspend'>
  /** Where the sockets of sandboxes are; by default below the folder for temporary files. */
  readonly controlFolders?: ControlFolders | undefined
  readonly limits?: Partial<DockerLimits> | undefined
  readonly runtime?: string | undefined
  /** The runtime's program, if it resumes sandboxes from checkpoints. */
  readonly checkpoints?: CheckpointOptions | undefined
  /** Python modules that a warm sandbox has imported; what the image says when absent. */
  readonly preload?: readonly string[] | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** `exec` for engines that share no sockets with their host (Docker Desktop). */
  readonly transport?: 'unix' | 'exec' | undefined
  readonly readOnlyBinds?: readonly string[] | undefined
  /** Called when the engine has been asked to run a created container. */
  readonly onRun?: (() => void) | undefined
}

const NAMESAKE_ATTEMPTS = 100
const NAMESAKE_PAUSE_MS = 50

/** How long `inspect` waits for a supervisor's word, milliseconds. */
const HEALTH_MS = 2_000

class DockerDriver implements SandboxDriver {
  readonly name = DOCKER_PROFILE.name
  readonly capabilities = DOCKER_PROFILE.capabilities
  readonly images: ImageCatalogue
  readonly #options: DockerDriverOptions
  readonly #docker: Docker
  readonly #limits: DockerLimits
  readonly #controlFolders: ControlFolders
  readonly #seccompProfile = readSeccompProfile()
  readonly #checkpoints: Checkpoints | null
  readonly #processorTime: ProcessorTime
  readonly suspension?: DockerSuspension

  constructor(options: DockerDriverOptions) {
    this.images = options.images
    this.#options = options
    this.#docker = options.docker
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits }
    this.#controlFolders = options.controlFolders ?? ownControlFolders(defaultControlRoot())
    const { docker, supervisor } = options
    this.#processorTime = new ProcessorTime(docker)
    const checkpoints = options.checkpoints === undefined ? null : new Checkpoints(options.checkpoints)
    this.#checkpoints = checkpoints
    if (checkpoints === null) return
    const waitReady = this.waitReady.bind(this)
    this.suspension = new DockerSuspension({ docker, supervisor, checkpoints, folders: this.#controlFolders, waitReady })
  }

  async start(spec: SandboxSpec, signal: AbortSignal): Promise<undefined> {
    signal.throwIfAborted()
    const plan = await this.#plan(spec)
    const container = this.#docker.getContainer(spec.sandboxId)
    try {
      await createSandboxContainer(this.#docker, spec, { plan })
    } catch (error) {
      if (engineStatus(error) !== 409) {
        await this.#controlFolders.remove(spec.sandboxId)
        throw toDriverError(error, plan.image)
      }
      // Created by an earlier delivery. A container that ran already is never run again: its state is gone.
      const status = await statusOfNamesake(container, signal)
      if (status !== 'created') return
    }
    signal.throwIfAborted()
    const running = container.start()
    this.#options.onRun?.()
    await running.catch((error: unknown) => {
      const status = engineStatus(error)
      if (status === 304) return
      if (status === 404) throw new DriverError('unavailable', `Sandbox ${spec.sandboxId} was stopped while it started.`, { cause: error })
      throw toDriverError(error, this.#defaultImage)
    })
  }

  async inspect(sandboxId: string): Promise<SandboxStatus> {
    await this.suspension?.settled(sandboxId)
    const seen = await this.#read(sandboxId)
    const gone = goneStatus(seen)
    if (seen && (await this.#checkpoints?.has(seen.Id, { hasEnded: gone !== null })) === true) return { phase: 'suspended' }
    if (gone) return gone
    const address = this.#addressOf(sandboxId)
    const state = await this.#options.supervisor.health(address, 0, AbortSignal.timeout(HEALTH_MS)).then(
      (health) => health.state,
      () => 'starting',
    )
    return state === 'ready' ? { phase: 'ready', address } : { phase: 'starting' }
  }

  inspectAll(sandboxes: readonly SandboxRef[]): Promise<SandboxStatus[]> {
    return Promise.all(sandboxes.map(({ id }) => this.inspect(id)))
  }

  async waitReady(sandboxId: string, signal: AbortSignal): Promise<SandboxStatus> {
    const seen = await this.#read(sandboxId)
    const gone = goneStatus(seen)
    if (gone) return gone
    const container = this.#docker.getContainer(sandboxId)
    const over = new AbortController()
    const until = AbortSignal.any([signal, over.signal])
    const address = this.#addressOf(sandboxId)
    try {
      const ended = container.wait({ abortSignal: until }).then(() => false)
      const ready = untilReady(this.#options.supervisor, address, until).then((isReady) => isReady || ended)
      ended.catch(() => undefined)
      ready.catch(() => undefined)
      if (!(await Promise.race([ready, ended]))) return goneStatus(await this.#read(sandboxId)) ?? { phase: 'starting' }
      if (seen?.HostConfig.CpuShares !== SHARES_WHEN_READY)
        await container.update({ CpuShares: SHARES_WHEN_READY }).catch((error: unknown) => this.#fail(error))
      return { phase: 'ready', address }
    } catch (error) {
      if (signal.aborted) return { phase: 'starting' }
      if (error instanceof SupervisorError) return { phase: 'gone', reason: 'lost', exitCode: null, detail: error.message }
      if (engineStatus(error) === 404) return { phase: 'gone', reason: 'lost', exitCode: null }
      throw toDriverError(error, this.#defaultImage)
    } finally {
      over.abort()
    }
  }

  async weigh(sandboxId: string, weight: number): Promise<void> {
    const CpuShares = Math.max(MIN_SHARES, Math.round(SHARES_WHEN_READY * weight))
    await this.#docker
      .getContainer(sandboxId)
      .update({ CpuShares })
      .catch((error: unknown) => {
        // It is gone, or is being removed.
        if (![404, 409].includes(engineStatus(error) ?? 0)) throw toDriverError(error, this.#defaultImage)
      })
  }

  processorMs(sandboxId: string): Promise<number | null> {
    return this.#processorTime.read(sandboxId)
  }

  async stop(sandboxId: string): Promise<void> {
    this.#processorTime.forget(sandboxId)
    const containerId = this.#checkpoints === null ? undefined : (await this.#read(sandboxId))?.Id
    // First, so that a container that could not be removed has nothing to resume.
    if (containerId !== undefined) await this.#checkpoints?.remove(containerId)
    await removeContainer(this.#docker.getContainer(sandboxId)).catch((error: unknown) => this.#fail(error))
    await this.#controlFolders.remove(sandboxId)
  }

  async *list(): AsyncGenerator<string> {
    const filters = { label: [`${STAGE_LABEL}=${this.#options.stage}`] }
    const containers = await this.#docker.listContainers({ all: true, filters }).catch((error: unknown) => this.#fail(error))
    for (const { Labels } of containers) {
      const sandboxId = Labels[SANDBOX_LABEL]
      if (sandboxId !== undefined) yield sandboxId
    }
  }

  async check(): Promise<void> {
    try {
      await this.#docker.ping()
      await this.#docker.getImage(this.#defaultImage).inspect()
    } catch (error) {
      throw toDriverError(error, this.#defaultImage)
    }
  }

  async #plan(spec: SandboxSpec): Promise<Omit<ContainerPlan, 'workerUid'>> {
    const { stage, transport = 'unix', runtime, preload, labels, readOnlyBinds } = this.#options
    return {
      image: this.images.resolve(spec.imageName).reference,
      stage,
      limits: withSandboxLimits(this.#limits, spec.limits),
      seccompProfile: this.#seccompProfile,
      controlFolder: transport === 'unix' ? await this.#controlFolders.make(spec.sandboxId) : undefined,
      runtime,
      preload,
      labels,
      readOnlyBinds,
    }
  }

  /** For messages about calls that name no image. */
  get #defaultImage(): string {
    return this.images.resolve().reference
  }

  #addressOf(sandboxId: string): SandboxAddress {
    return this.#options.transport === 'exec'
      ? { kind: 'exec', containerName: sandboxId }
      : { kind: 'unix', socketPath: this.#controlFolders.socketOf(sandboxId) }
  }

  #read(sandboxId: string): Promise<Docker.ContainerInspectInfo | null> {
    const reading = this.#docker.getContainer(sandboxId).inspect()
    return unless404(reading.catch((error: unknown) => this.#fail(error)))
  }

  /** Keeps 404, on which callers branch. */
  #fail(error: unknown): never {
    throw engineStatus(error) === 404 ? error : toDriverError(error, this.#defaultImage)
  }
}

/** Sandboxes as containers of a Docker engine. The container's name is the sandbox's id, so a second start finds the first. */
export const createDockerDriver = (options: DockerDriverOptions): SandboxDriver => new DockerDriver(options)

/** Null while it runs or is about to. */
function goneStatus(container: Docker.ContainerInspectInfo | null): SandboxStatus | null {
  if (!container) return { phase: 'gone', reason: 'lost', exitCode: null, detail: 'The engine has no container of this name.' }
  const { Status, ExitCode, OOMKilled, Error: detail } = container.State
  if (Status !== 'exited' && Status !== 'dead' && Status !== 'removing') return null
  return { phase: 'gone', reason: exitReason(ExitCode, OOMKilled), exitCode: ExitCode, ...(detail !== '' && { detail }) }
}

/** The engine keeps a name for a container that it is still making, so one that is not there yet is waited for. Null when its making failed. */
async function statusOfNamesake(container: Docker.Container, signal: AbortSignal): Promise<string | null> {
  for (let attempt = 0; attempt < NAMESAKE_ATTEMPTS; attempt++) {
    const seen = await unless404(container.inspect())
    if (seen) return seen.State.Status
    await delay(NAMESAKE_PAUSE_MS, undefined, { signal })
  }
  return null
}

const unless404 = async <T>(call: Promise<T>): Promise<T | null> => {
  try {
    return await call
  } catch (error) {
    if (engineStatus(error) === 404) return null
    throw error
  }
}
