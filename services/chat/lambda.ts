import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { newId } from '../core/ids.ts'
import type { TurnMessage } from '../core/messages.ts'
import { systemClock } from '../core/ports/clock.ts'
import type { ModelCatalogue } from '../core/ports/model-catalogue.ts'
import type { Tool } from '../core/ports/tool.ts'
import { createStorageClients } from '../storage/clients.ts'
import { createDynamoTable } from '../storage/dynamodb/dynamo-table.ts'
import { createJsonLog, logFailedMessage } from '../storage/json-log.ts'
import { createS3ObjectStore } from '../storage/s3/s3-object-store.ts'
import { createPollingSignals } from '../storage/signals/polling-signals.ts'
import { createBatchHandler } from '../storage/sqs/lambda-batch.ts'
import { createSqsQueue } from '../storage/sqs/sqs-queue.ts'
import { chatConfigFromSecret, chatEnvFromEnv, keysOfSecret } from './config.ts'
import { createModelCatalogue } from './models/catalogue.ts'
import { toolConfigFromEnv } from './tools/config.ts'
import { createTools } from './tools/create-tools.ts'
import { createTurnStep } from './turn-step.ts'

const env = chatEnvFromEnv()
const clients = createStorageClients({ region: env.AWS_REGION })
const objects = createS3ObjectStore({ client: clients.s3, bucket: env.BUCKET_NAME })
const ports = {
  objects,
  table: createDynamoTable({ client: clients.dynamodb, tableName: env.TABLE_NAME, objects }),
  queue: createSqsQueue({
    client: clients.sqs,
    queueUrls: { turns: env.TURNS_QUEUE_URL, executions: env.EXECUTIONS_QUEUE_URL, placements: env.PLACEMENTS_QUEUE_URL },
  }),
  signals: createPollingSignals(),
  clock: systemClock,
  telemetry: createJsonLog(env.STAGE),
  workerId: newId('worker'),
}
const secrets = new SecretsManagerClient({ region: env.AWS_REGION })

let step: ((message: TurnMessage) => Promise<void>) | null = null

/** Reads the keys once for each instance; a read that fails is tried again with the next message. */
async function runStep(message: TurnMessage): Promise<void> {
  step ??= createTurnStep({ ...ports, ...(await readKeys()) })
  await step(message)
}

/** The models and tools; the secret has the keys of both. */
async function readKeys(): Promise<{ readonly models: ModelCatalogue; readonly tools: readonly Tool[] }> {
  const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId: env.MODELS_SECRET_ARN }))
  const secret = SecretString ?? '{}'
  const keys = keysOfSecret(secret)
  const tools = await createTools(
    toolConfigFromEnv({ ...keys, ...(env.CELLBLOCK_TOOLS === undefined ? {} : { CELLBLOCK_TOOLS: env.CELLBLOCK_TOOLS }) }),
  )
  return { tools, models: createModelCatalogue(chatConfigFromSecret(secret, env.CELLBLOCK_MODELS)) }
}

export const handler = createBatchHandler('turns', runStep, logFailedMessage(ports.telemetry, 'turns'))
