import { newId } from '../../../model/ids.ts'
import { LIMITS } from '../../../model/limits.ts'
import { createFunctionPorts } from '../../../adapters/storage/function-ports.ts'
import { logFailedMessage } from '../../../adapters/storage/json-log.ts'
import { createBatchHandler } from '../../../adapters/storage/sqs/lambda-batch.ts'
import { placeConfigFromEnv } from '../../config.ts'
import type { ReconcilerDeps } from '../../../workers/deps.ts'
import { DEPLOYMENTS } from '../../../adapters/drivers/deployments.ts'
import { DRIVERS } from '../../../adapters/drivers/registry.ts'
import { createPlaceStep } from '../../../workers/place/place-step.ts'
import { createPool } from '../../../workers/place/pool.ts'

/** Concurrent starts of one function: RunTask allows 20 calls per second in an account and Region. */
const MAX_STARTS = 10
/** The schedule of the reconciler in `infra`. */
const BETWEEN_PASSES_MS = 60_000

const config = placeConfigFromEnv()
/** The platform of this deployment. */
export const deployment = DEPLOYMENTS[config.SANDBOX_DRIVER]

function placeDeps(): ReconcilerDeps {
  return {
    ...createFunctionPorts(config),
    costPerSecond: (tier) => DRIVERS[config.SANDBOX_DRIVER].costPerSecond(tier, config.SANDBOX_ARCHITECTURE),
    driver: deployment.createDriver(config.SANDBOX_IMAGES),
    poolSizes: config.POOL_SIZES,
    poolCeilings: config.POOL_CEILINGS,
    imagePoolSizes: config.IMAGE_POOL_SIZES,
    maxStarts: MAX_STARTS,
    workerId: newId('worker'),
    hibernateAfterMs: LIMITS.hibernateAfterMinutes * 60_000,
    earlySleepMs: config.EARLY_SLEEP_SECONDS * 1000,
    betweenPassesMs: BETWEEN_PASSES_MS,
  }
}

/** The dependencies of the two functions that call the platform. */
export const deps = placeDeps()

export const handler = createBatchHandler(
  'placements',
  createPlaceStep(deps, createPool(deps)),
  logFailedMessage(deps.telemetry, 'placements'),
)
