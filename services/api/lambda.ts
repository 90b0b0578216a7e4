import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { streamHandle } from 'hono/aws-lambda'
import { ImageCatalogue } from '../core/containers/images.ts'
import { systemClock } from '../core/ports/clock.ts'
import { createStorageClients } from '../storage/clients.ts'
import { createDynamoTable } from '../storage/dynamodb/dynamo-table.ts'
import { createJsonLog } from '../storage/json-log.ts'
import { createS3ObjectStore } from '../storage/s3/s3-object-store.ts'
import { createPollingSignals } from '../storage/signals/polling-signals.ts'
import { createSqsQueue } from '../storage/sqs/sqs-queue.ts'
import { createApp } from './app.ts'
import { lambdaConfigFromEnv } from './config.ts'
import { checkParts } from './readiness.ts'
import { namedModels } from './named-models.ts'
import { originConfigFromEnv } from './origin/config.ts'
import { requireOrigin } from './origin/require-origin.ts'

const config = lambdaConfigFromEnv()
const clients = createStorageClients({ region: config.region })
const objects = createS3ObjectStore({ client: clients.s3, bucket: config.bucket })
const table = createDynamoTable({ client: clients.dynamodb, tableName: config.tableName, objects })
const queue = createSqsQueue({ client: clients.sqs, queueUrls: config.queueUrls })

const app = createApp({
  table,
  queue,
  objects,
  signals: createPollingSignals(),
  clock: systemClock,
  telemetry: createJsonLog(config.stage),
  models: namedModels(config.models, systemClock.now()),
  toolTypes: config.toolTypes,
  images: new ImageCatalogue(Object.fromEntries(config.images.map((name) => [name, name])), config.images[0] ?? 'slim'),
  readiness: () => checkParts({ table: () => table.check(), queue: () => queue.check(), store: () => objects.check() }),
  config: config.api,
})

const { ORIGIN_SECRET_ARN } = originConfigFromEnv()
if (ORIGIN_SECRET_ARN !== undefined) {
  const secrets = new SecretsManagerClient({ region: config.region })
  app.fetch = requireOrigin(app.fetch, async () => {
    const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId: ORIGIN_SECRET_ARN }))
    if (SecretString === undefined || SecretString === '') throw new Error('The origin secret is empty. Deploy the service stack again.')
    return SecretString
  })
}

/** Behind a function URL with response streaming, so that events leave as they come. */
export const handler = streamHandle(app)
