import { ImageCatalogue } from '../../model/containers/images.ts'
import type { MemoryTier } from '../../model/limits.ts'
import type { PriceList } from '../../model/usage/price-list.ts'
import type { SandboxDriver } from '../../ports/sandbox-driver.ts'
import type { SandboxLink } from '../../ports/sandbox-link.ts'
import type { Supervisor } from '../../ports/supervisor.ts'
import { systemClock } from '../../ports/clock.ts'
import type { DriverHost, DriverProfile } from '../../adapters/drivers/driver-profile.ts'
import { createDockerHost } from '../../adapters/drivers/docker/host.ts'
import { DRIVERS, type LOCAL_DRIVERS } from '../../adapters/drivers/registry.ts'
import { createSandboxLink } from '../../adapters/link/create-sandbox-link.ts'
import { createSupervisorClient } from '../../adapters/supervisor-client/supervisor-client.ts'
import type { LocalConfig } from './config.ts'

/** What the registry's drivers for one machine call. It is not in the registry, because the engines' clients would add to the bundle of every function. */
const HOSTS: Readonly<Record<(typeof LOCAL_DRIVERS)[number], () => DriverHost>> = {
  docker: createDockerHost,
}

export interface LocalSandboxes {
  readonly driver: SandboxDriver
  readonly supervisor: Supervisor
  /** Tiers that fit into this machine's memory. */
  readonly memoryTiers: readonly MemoryTier[]
  readonly prices: PriceList
  readonly costPerSecond: (tier: MemoryTier) => number
  /** Resolves when the engine has been asked to run the first sandbox. */
  readonly firstRun: Promise<void>
  close(): Promise<void>
}

/** The engine of a driver, and the way to the supervisors of its sandboxes. */
export function connectToSandboxes(driver: (typeof LOCAL_DRIVERS)[number]): { readonly host: DriverHost; readonly link: SandboxLink } {
  const host = HOSTS[driver]()
  const { addressKinds } = DRIVERS[driver].capabilities
  return { host, link: createSandboxLink({ kinds: addressKinds, ...(host.openRelay !== undefined && { openRelay: host.openRelay }) }) }
}

const ARCHITECTURE = process.arch === 'arm64' ? 'ARM64' : 'X86_64'

/** Sandboxes on this machine, after the orphans of killed servers were removed. Throws DriverError when the platform or the image is missing. */
export async function openSandboxes(config: LocalConfig, stage: string): Promise<LocalSandboxes> {
  const { costPerSecond, prices }: DriverProfile = DRIVERS[config.driver]
  const firstRun = Promise.withResolvers<void>()
  const { host, link } = connectToSandboxes(config.driver)
  try {
    const supervisor = createSupervisorClient({ link })
    const { driver, memoryTiers } = await host.open({
      stage,
      supervisor,
      images: new ImageCatalogue(config.images, config.defaultImage),
      runtime: config.dockerRuntime,
      transport: config.transport,
      controlDir: config.controlDir,
      preload: config.preload,
      wheelhouse: config.wheelhouse,
      onRun: firstRun.resolve,
      now: systemClock.now(),
    })
    return {
      ...{ driver, supervisor, memoryTiers, prices },
      costPerSecond: (tier) => costPerSecond(tier, { architecture: ARCHITECTURE }),
      firstRun: firstRun.promise,
      close: () => link.close(),
    }
  } catch (error) {
    await link.close()
    throw error
  }
}

/** Stops every sandbox that the driver started for this server, regardless of the rows. Suspended ones stay if the rows that name them do. */
export async function stopSandboxes(driver: SandboxDriver, { keepsSuspended }: { readonly keepsSuspended: boolean }): Promise<void> {
  const ids: string[] = []
  for await (const id of driver.list()) ids.push(id)
  const isKept = async (id: string): Promise<boolean> =>
    keepsSuspended && driver.suspension !== undefined && (await driver.inspect(id)).phase === 'suspended'
  await Promise.allSettled(ids.map(async (id) => ((await isKept(id)) ? undefined : driver.stop(id))))
}
