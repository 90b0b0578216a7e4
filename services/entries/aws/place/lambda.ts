import { logFailedMessage } from '../../../adapters/storage/json-log.ts'
import { createBatchHandler } from '../../../adapters/storage/sqs/lambda-batch.ts'
import { createPlaceStep } from '../../../workers/place/place-step.ts'
import { createPool } from '../../../workers/place/pool.ts'
import { openPlatform } from '../platform.ts'
import { placeConfigFromEnv } from '../config.ts'

const { deps } = openPlatform(placeConfigFromEnv())

export const handler = createBatchHandler(
  'placements',
  createPlaceStep(deps, createPool(deps)),
  logFailedMessage(deps.telemetry, 'placements'),
)
