import { newId } from '../../model/ids.ts'
import { createFunctionPorts } from '../../adapters/storage/function-ports.ts'
import { DEPLOYMENTS } from '../../adapters/drivers/deployments.ts'
import type { DriverDeployment } from '../../adapters/drivers/driver-profile.ts'
import { countStorage } from '../../operations/tenancy/meter-storage.ts'
import type { ReconcilerDeps } from '../../workers/deps.ts'
import { costPerSecondFrom, type placeConfigFromEnv } from './config.ts'

/** Concurrent starts of one function: RunTask allows 20 calls per second in an account and Region. */
const MAX_STARTS = 10
/** The schedule of the reconciler in `infra`. */
const BETWEEN_PASSES_MS = 60_000

/** The platform of a deployment, and what the two functions that call it need. */
export function openPlatform(config: ReturnType<typeof placeConfigFromEnv>): {
  readonly deployment: DriverDeployment
  readonly deps: ReconcilerDeps
} {
  const deployment = DEPLOYMENTS[config.SANDBOX_DRIVER]
  return {
    deployment,
    deps: {
      ...countStorage(createFunctionPorts(config)),
      costPerSecond: costPerSecondFrom(config),
      driver: deployment.createDriver(config.SANDBOX_IMAGES),
      poolSizes: config.POOL_SIZES,
      poolCeilings: config.POOL_CEILINGS,
      imagePoolSizes: config.IMAGE_POOL_SIZES,
      maxStarts: MAX_STARTS,
      workerId: newId('worker'),
      hibernateAfterMs: config.HIBERNATE_AFTER_SECONDS * 1000,
      earlySleepMs: config.EARLY_SLEEP_SECONDS * 1000,
      betweenPassesMs: BETWEEN_PASSES_MS,
    },
  }
}
