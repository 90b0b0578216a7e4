import { setTimeout as delay } from 'node:timers/promises'
import type Docker from 'dockerode'
import type { MemoryTier } from '../../../core/limits.ts'
import { DriverError, type SandboxDriver, type SandboxStatus, type SandboxSpec } from '../../../core/ports/sandbox-driver.ts'
import { SupervisorError, type Supervisor } from '../../../core/ports/supervisor.ts'
import type { SandboxAddress } from '../../../core/sandboxes/sandbox.ts'
import { exitReason } from '../exit-reason.ts'
import { SANDBOX_LABEL, SHARES_WHEN_READY, STAGE_LABEL } from './container-options.ts'
import { controlSocket, defaultControlRoot, makeControlFolder, removeControlFolder } from './control-folder.ts'
import { createContainer } from './create-container.ts'
import { engineStatus, toDriverError } from './engine-error.ts'
import { DEFAULT_LIMITS, memoryLimitBytes, withSandboxLimits, type DockerLimits } from './limits.ts'
import { DOCKER_PROFILE } from './profile.ts'
import { readSeccompProfile } from './seccomp-profile.ts'
import { untilReady } from './wait-ready.ts'

export interface DockerDriverOptions {
  readonly docker: Docker
  readonly image: string
  /** Sandboxes of other stages on the same engine are never seen. */
  readonly stage: string
  readonly supervisor: Pick<Supervisor, 'health'>
  /** Short and on the engine's own machine; sockets of sandboxes lie below it. */
  readonly controlRoot?: string | undefined
  readonly limits?: Partial<DockerLimits> | undefined
  readonly runtime?: string | undefined
  /** Python modules that a warm sandbox has imported; what the image says when absent. */
  readonly preload?: readonly string[] | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** `exec` for engines that share no sockets with their host (Docker Desktop). */
  readonly transport?: 'unix' | 'exec' | undefined
  readonly readOnlyBinds?: readonly string[] | undefined
}

const NAMESAKE_TRIES = 100
const NAMESAKE_PAUSE_MS = 50

/** How long `inspect` waits for a supervisor's word, milliseconds. */
const HEALTH_MS = 2_000

/** Sandboxes as containers of a Docker engine. The container's name is the sandbox's id, so a second start finds the first. */
export function createDockerDriver(options: DockerDriverOptions): SandboxDriver & Required<Pick<SandboxDriver, 'resize'>> {
  const { docker, image, stage, supervisor, transport = 'unix', controlRoot = defaultControlRoot() } = options
  const limits: DockerLimits = { ...DEFAULT_LIMITS, ...options.limits }
  const seccompProfile = readSeccompProfile()

  const addressOf = (sandboxId: string): SandboxAddress =>
    transport === 'exec' ? { kind: 'exec', containerName: sandboxId } : { kind: 'unix', socketPath: controlSocket(controlRoot, sandboxId) }

  const look = (sandboxId: string): Promise<Docker.ContainerInspectInfo | null> =>
    unless404(docker.getContainer(sandboxId).inspect().catch(failed))

  /** Null while it runs or is about to. */
  const goneSight = (container: Docker.ContainerInspectInfo | null): SandboxStatus | null => {
    if (!container) return { phase: 'gone', reason: 'lost', exitCode: null, detail: 'The engine has no container of this name.' }
    const { Status, ExitCode, OOMKilled, Error: detail } = container.State
    if (Status !== 'exited' && Status !== 'dead' && Status !== 'removing') return null
    return { phase: 'gone', reason: exitReason(ExitCode, OOMKilled), exitCode: ExitCode, ...(detail !== '' && { detail }) }
  }

  const failed = (error: unknown): never => {
    throw engineStatus(error) === 404 ? error : toDriverError(error, image)
  }

  return {
    name: DOCKER_PROFILE.name,
    capabilities: DOCKER_PROFILE.capabilities,
    image,

    async start(spec: SandboxSpec, signal: AbortSignal) {
      signal.throwIfAborted()
      const folder = transport === 'unix' ? await makeControlFolder(controlRoot, spec.sandboxId) : undefined
      const plan = {
        image,
        stage,
        limits: withSandboxLimits(limits, spec.limits),
        seccompProfile,
        controlFolder: folder,
        runtime: options.runtime,
        preload: options.preload,
        labels: options.labels,
        readOnlyBinds: options.readOnlyBinds,
      }
      const container = docker.getContainer(spec.sandboxId)
      try {
        await createContainer(docker, spec, plan)
      } catch (error) {
        if (engineStatus(error) !== 409) {
          await removeControlFolder(controlRoot, spec.sandboxId)
          throw toDriverError(error, image)
        }
        // Made by an earlier delivery. One that ran already is never run again: what it held is gone.
        const status = await statusOfNamesake(container, signal)
        if (status !== 'created') return
      }
      signal.throwIfAborted()
      await container.start().catch((error: unknown) => {
        const status = engineStatus(error)
        if (status === 304) return
        if (status === 404)
          throw new DriverError('unavailable', `Sandbox ${spec.sandboxId} was stopped while it started.`, { cause: error })
        throw toDriverError(error, image)
      })
    },

    async inspect(sandboxId) {
      const gone = goneSight(await look(sandboxId))
      if (gone) return gone
      const address = addressOf(sandboxId)
      const state = await supervisor.health(address, 0, AbortSignal.timeout(HEALTH_MS)).then(
        (health) => health.state,
        () => 'starting',
      )
      return state === 'ready' ? { phase: 'ready', address } : { phase: 'starting' }
    },

    async waitReady(sandboxId, signal) {
      const seen = await look(sandboxId)
      const gone = goneSight(seen)
      if (gone) return gone
      const container = docker.getContainer(sandboxId)
      const over = new AbortController()
      const until = AbortSignal.any([signal, over.signal])
      const address = addressOf(sandboxId)
      try {
        const ended = container.wait({ abortSignal: until }).then(() => false)
        const ready = untilReady(supervisor, address, until).then((isReady) => isReady || ended)
        ended.catch(() => undefined)
        ready.catch(() => undefined)
        if (!(await Promise.race([ready, ended]))) return goneSight(await look(sandboxId)) ?? { phase: 'starting' }
        if (seen?.HostConfig.CpuShares !== SHARES_WHEN_READY) await container.update({ CpuShares: SHARES_WHEN_READY }).catch(failed)
        return { phase: 'ready', address }
      } catch (error) {
        if (signal.aborted) return { phase: 'starting' }
        if (error instanceof SupervisorError) return { phase: 'gone', reason: 'lost', exitCode: null, detail: error.message }
        if (engineStatus(error) === 404) return { phase: 'gone', reason: 'lost', exitCode: null }
        throw toDriverError(error, image)
      } finally {
        over.abort()
      }
    },

    async stop(sandboxId) {
      const container = docker.getContainer(sandboxId)
      try {
        await container.remove({ force: true, v: true })
      } catch (error) {
        const status = engineStatus(error)
        // Somebody else is removing it: gone is when that is done.
        if (status === 409) await unless404(container.wait({ condition: 'removed' }))
        else if (status !== 404) throw toDriverError(error, image)
      }
      await removeControlFolder(controlRoot, sandboxId)
    },

    async *list() {
      const seen = await docker.listContainers({ all: true, filters: { label: [`${STAGE_LABEL}=${stage}`] } }).catch(failed)
      for (const { Labels } of seen) {
        const sandboxId = Labels[SANDBOX_LABEL]
        if (sandboxId !== undefined) yield sandboxId
      }
    },

    async resize(sandboxId: string, memoryTier: MemoryTier) {
      const memory = memoryLimitBytes(memoryTier, limits)
      await docker
        .getContainer(sandboxId)
        .update({ Memory: memory, MemorySwap: memory })
        .catch((error: unknown) => {
          if (engineStatus(error) === 404)
            throw new DriverError('unavailable', `Sandbox ${sandboxId} is gone, so it cannot grow.`, { cause: error })
          throw toDriverError(error, image)
        })
    },

    async check() {
      await docker.ping().catch(failed)
      await docker
        .getImage(image)
        .inspect()
        .catch((error: unknown) => {
          throw toDriverError(error, image)
        })
    },
  }
}

/** The engine keeps a name for a container that it is still making, so one that is not there yet is waited for. Null when its making failed. */
async function statusOfNamesake(container: Docker.Container, signal: AbortSignal): Promise<string | null> {
  for (let tries = 0; tries < NAMESAKE_TRIES; tries++) {
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
