import { systemClock, type Clock } from '../../ports/clock.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Signals } from '../../ports/signals.ts'
import type { Table } from '../../ports/table.ts'
import type { LogLevel, Telemetry } from '../../ports/telemetry.ts'
import { createDynamoClient } from './dynamodb/dynamo-client.ts'
import { createDynamoTable } from './dynamodb/dynamo-table.ts'
import { createJsonLog } from './json-log.ts'
import { createLazyS3ObjectStore } from './s3/lazy-s3-object-store.ts'
import { createPollingSignals } from './signals/polling-signals.ts'
import { createSqsClient } from './sqs/sqs-client.ts'
import { createSqsQueue } from './sqs/sqs-queue.ts'

/** The variables of a worker function that name its storage. */
interface FunctionEnv {
  readonly AWS_REGION: string
  readonly STAGE: string
  readonly LOG_LEVEL: LogLevel
  readonly TABLE_NAME: string
  readonly BUCKET_NAME: string
  readonly TURNS_QUEUE_URL: string
  readonly EXECUTIONS_QUEUE_URL: string
  readonly PLACEMENTS_QUEUE_URL: string
}

interface FunctionPorts {
  readonly objects: ObjectStore
  readonly table: Table
  readonly queue: Queue
  readonly signals: Signals
  readonly clock: Clock
  readonly telemetry: Telemetry
}

/** The ports that every worker function of a deployment uses. */
export function createFunctionPorts(env: FunctionEnv): FunctionPorts {
  const region = env.AWS_REGION
  const objects = createLazyS3ObjectStore({ region, bucket: env.BUCKET_NAME })
  return {
    objects,
    table: createDynamoTable({ client: createDynamoClient({ region }), tableName: env.TABLE_NAME, objects }),
    queue: createSqsQueue({
      client: createSqsClient({ region }),
      queueUrls: { turns: env.TURNS_QUEUE_URL, executions: env.EXECUTIONS_QUEUE_URL, placements: env.PLACEMENTS_QUEUE_URL },
    }),
    signals: createPollingSignals(),
    clock: systemClock,
    telemetry: createJsonLog(env.STAGE, env.LOG_LEVEL),
  }
}
