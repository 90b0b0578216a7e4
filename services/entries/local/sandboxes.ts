import Docker from 'dockerode'
import { ImageCatalogue } from '../../model/containers/images.ts'
import type { MemoryTier } from '../../model/limits.ts'
import type { SandboxDriver } from '../../ports/sandbox-driver.ts'
import type { Supervisor } from '../../ports/supervisor.ts'
import { systemClock } from '../../ports/clock.ts'
import { createDockerDriver } from '../../adapters/drivers/docker/docker-driver.ts'
import { createExecRelay } from '../../adapters/drivers/docker/exec-relay.ts'
import { tiersOfHost } from '../../adapters/drivers/docker/limits.ts'
import { DRIVERS } from '../../adapters/drivers/registry.ts'
import { createSandboxLink } from '../../adapters/link/create-sandbox-link.ts'
import { createSupervisorClient } from '../../adapters/supervisor-client/supervisor-client.ts'
import type { LocalConfig } from './config.ts'
import { removeOrphanedSandboxes, SERVER_LABEL } from './remove-orphaned-sandboxes.ts'

/** Where pip of a sandbox looks for wheels (runtime-image/supervisor/cellblock_supervisor/config.py). */
const WHEELHOUSE_FOLDER = '/opt/wheels'

export interface LocalSandboxes {
  readonly driver: SandboxDriver
  readonly supervisor: Supervisor
  /** Tiers that fit into this machine's memory. */
  readonly memoryTiers: readonly MemoryTier[]
  /** Resolves when the engine has been asked to run the first sandbox. */
  readonly firstRun: Promise<void>
  close(): Promise<void>
}

/** Docker sandboxes on this machine, after the orphans of killed servers were removed. Throws DriverError when Docker or the image is missing. */
export async function openSandboxes(config: LocalConfig, stage: string): Promise<LocalSandboxes> {
  const docker = new Docker()
  const firstRun = Promise.withResolvers<void>()
  const link = createSandboxLink({ kinds: DRIVERS.docker.capabilities.addressKinds, openRelay: createExecRelay(docker) })
  try {
    const supervisor = createSupervisorClient({ link })
    const driver = createDockerDriver({
      docker,
      stage,
      supervisor,
      images: new ImageCatalogue(config.images, config.defaultImage),
      runtime: config.dockerRuntime ?? undefined,
      transport: config.transport,
      labels: { [SERVER_LABEL]: String(process.pid) },
      preload: config.preload ?? undefined,
      onRun: firstRun.resolve,
      ...(config.wheelhouse !== null && { readOnlyBinds: [`${config.wheelhouse}:${WHEELHOUSE_FOLDER}`] }),
    })
    const answers = Promise.all([docker.info(), removeOrphanedSandboxes(docker, stage, systemClock.now())])
    // The check says best what is wrong with an engine that does not answer.
    answers.catch(() => undefined)
    await driver.check()
    const [info] = await answers
    const memoryTiers = tiersOfHost(info as { readonly MemTotal?: number })
    return { driver, supervisor, memoryTiers, firstRun: firstRun.promise, close: () => link.close() }
  } catch (error) {
    await link.close()
    throw error
  }
}

/** Stops every sandbox that the driver started for this server, regardless of the rows. */
export async function stopSandboxes(driver: SandboxDriver): Promise<void> {
  const ids: string[] = []
  for await (const id of driver.list()) ids.push(id)
  await Promise.allSettled(ids.map((id) => driver.stop(id)))
}
