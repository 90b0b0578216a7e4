import { singleImage } from '../../core/containers/images.ts'
import { newId } from '../../core/ids.ts'
import type { MemoryTier } from '../../core/limits.ts'
import { systemClock } from '../../core/ports/clock.ts'
import { createStorageClients } from '../../storage/clients.ts'
import { createDynamoTable } from '../../storage/dynamodb/dynamo-table.ts'
import { createJsonLog, logFailedMessage } from '../../storage/json-log.ts'
import { createS3ObjectStore } from '../../storage/s3/s3-object-store.ts'
import { createPollingSignals } from '../../storage/signals/polling-signals.ts'
import { createBatchHandler } from '../../storage/sqs/lambda-batch.ts'
import { createSqsQueue } from '../../storage/sqs/sqs-queue.ts'
import { runConfigFromEnv } from '../config.ts'
import { DRIVERS } from '../drivers/registry.ts'
import { createLink } from '../link/create-link.ts'
import { createSupervisorClient } from '../supervisor-client/supervisor-client.ts'
import { createRunStep } from './run-step.ts'

/** A step hands over to a fresh message well before Lambda ends it, milliseconds. */
const STEP_BUDGET_MS = 50_000

const config = runConfigFromEnv()
const telemetry = createJsonLog(config.STAGE)
const clients = createStorageClients({ region: config.AWS_REGION })
const objects = createS3ObjectStore({ client: clients.s3, bucket: config.BUCKET_NAME })
const step = createRunStep({
  objects,
  table: createDynamoTable({ client: clients.dynamodb, tableName: config.TABLE_NAME, objects }),
  queue: createSqsQueue({
    client: clients.sqs,
    queueUrls: { turns: config.TURNS_QUEUE_URL, executions: config.EXECUTIONS_QUEUE_URL, placements: config.PLACEMENTS_QUEUE_URL },
  }),
  signals: createPollingSignals(),
  clock: systemClock,
  telemetry,
  supervisor: createSupervisorClient({ link: createLink() }),
  workerId: newId('worker'),
  images: singleImage(config.SANDBOX_IMAGE, config.SANDBOX_IMAGE_NAME),
  stepBudgetMs: STEP_BUDGET_MS,
  costPerSecond: (tier: MemoryTier) => DRIVERS[config.SANDBOX_DRIVER].costPerSecond(tier, config.SANDBOX_ARCHITECTURE),
})

export const handler = createBatchHandler('executions', step, logFailedMessage(telemetry, 'executions'))
