import { ECSClient } from '@aws-sdk/client-ecs'
import { singleImage } from '../../core/containers/images.ts'
import { newId } from '../../core/ids.ts'
import { LIMITS } from '../../core/limits.ts'
import { systemClock } from '../../core/ports/clock.ts'
import { createStorageClients } from '../../storage/clients.ts'
import { createDynamoTable } from '../../storage/dynamodb/dynamo-table.ts'
import { createJsonLog, logFailedMessage } from '../../storage/json-log.ts'
import { createS3ObjectStore } from '../../storage/s3/s3-object-store.ts'
import { createPollingSignals } from '../../storage/signals/polling-signals.ts'
import { createSqsQueue } from '../../storage/sqs/sqs-queue.ts'
import { createBatchHandler } from '../../storage/sqs/lambda-batch.ts'
import { placeConfigFromEnv } from '../config.ts'
import type { ReconcilerDeps } from '../deps.ts'
import { DRIVERS } from '../drivers/registry.ts'
import { createFargateDriver } from '../drivers/fargate/fargate-driver.ts'
import { createPlaceStep } from './place-step.ts'
import { createPool } from './pool.ts'

/** Starts under way at once in one function: RunTask allows 20 calls a second in an account and Region. */
const MAX_STARTS = 10

function placeDeps(config: ReturnType<typeof placeConfigFromEnv>): ReconcilerDeps {
  const clients = createStorageClients({ region: config.AWS_REGION })
  const objects = createS3ObjectStore({ client: clients.s3, bucket: config.BUCKET_NAME })
  return {
    objects,
    table: createDynamoTable({ client: clients.dynamodb, tableName: config.TABLE_NAME, objects }),
    queue: createSqsQueue({
      client: clients.sqs,
      queueUrls: { turns: config.TURNS_QUEUE_URL, executions: config.EXECUTIONS_QUEUE_URL, placements: config.PLACEMENTS_QUEUE_URL },
    }),
    signals: createPollingSignals(),
    clock: systemClock,
    telemetry: createJsonLog(config.STAGE),
    costPerSecond: (tier) => DRIVERS[config.SANDBOX_DRIVER].costPerSecond(tier, config.SANDBOX_ARCHITECTURE),
    driver: createFargateDriver({
      ecs: new ECSClient({ region: config.AWS_REGION }),
      cluster: config.CLUSTER_ARN,
      images: singleImage(config.SANDBOX_IMAGE, config.SANDBOX_IMAGE_NAME),
      taskDefinitions: { [config.SANDBOX_IMAGE_NAME]: config.TASK_DEFINITIONS },
      subnets: config.SUBNET_IDS,
      securityGroups: config.SECURITY_GROUP_IDS,
    }),
    poolSizes: config.POOL_SIZES,
    poolCeilings: config.POOL_CEILINGS,
    maxStarts: MAX_STARTS,
    workerId: newId('worker'),
    hibernateAfterMs: LIMITS.hibernateAfterMinutes * 60_000,
  }
}

/** What the two functions that call ECS work with. */
export const deps = placeDeps(placeConfigFromEnv())

export const handler = createBatchHandler(
  'placements',
  createPlaceStep(deps, createPool(deps)),
  logFailedMessage(deps.telemetry, 'placements'),
)
