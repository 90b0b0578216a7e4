import { jsonLog } from '../../storage/json-log.ts'
import { createBatchHandler } from '../../storage/sqs/lambda-batch.ts'
import { placeConfigFromEnv } from '../config.ts'
import { placeDeps } from './place-deps.ts'
import { createPlaceStep } from './place-step.ts'
import { createPool } from './pool.ts'

const deps = placeDeps(placeConfigFromEnv())

export const handler = createBatchHandler('placements', createPlaceStep(deps, createPool(deps)), (error, messageId) =>
  jsonLog.emit({
    event: 'message',
    outcome: 'error',
    queue: 'placements',
    message: messageId,
    detail: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
  }),
)
