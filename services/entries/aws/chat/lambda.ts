import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { newId } from '../../../model/ids.ts'
import type { QueueMessages, TurnMessage } from '../../../model/messages.ts'
import { createDeliveriesStep } from '../../../workers/deliver/delivery-step.ts'
import type { ModelCatalogue } from '../../../ports/model-catalogue.ts'
import type { ServerTool } from '../../../ports/tool.ts'
import { DRIVERS } from '../../../adapters/drivers/registry.ts'
import { createFunctionPorts } from '../../../adapters/storage/function-ports.ts'
import { logFailedMessage } from '../../../adapters/storage/json-log.ts'
import { createBatchHandler } from '../../../adapters/storage/sqs/lambda-batch.ts'
import { chatConfigFromSecret, keysOfSecret } from '../../../adapters/models/config.ts'
import { CHAT_STEP_LIMIT_MS, chatEnvFromEnv } from './config.ts'
import { createModelCatalogue } from '../../../adapters/models/catalogue.ts'
import { toolConfigFromEnv } from '../../../adapters/tools/config.ts'
import { createTools } from '../../../adapters/tools/create-tools.ts'
import { SharedHolds } from '../../../operations/tenancy/shared-holds.ts'
import { createTurnStep } from '../../../workers/turn/turn-step.ts'
import { turnInShare } from './turn-in-share.ts'

const env = chatEnvFromEnv()
const ports = { ...createFunctionPorts(env), prices: DRIVERS[env.SANDBOX_DRIVER].prices, workerId: newId('worker') }
const secrets = new SecretsManagerClient({ region: env.AWS_REGION })

let step: ((message: TurnMessage) => Promise<void>) | null = null

/** Reads the keys once per instance; a failed read is repeated with the next message. */
async function runStep(message: TurnMessage): Promise<void> {
  step ??= createTurnStep({ ...ports, ...(await readKeys()), stepLimitMs: CHAT_STEP_LIMIT_MS })
  await step(message)
}

/** The models and tools; the secret has the keys of both. */
async function readKeys(): Promise<{ readonly models: ModelCatalogue; readonly tools: readonly ServerTool[] }> {
  const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId: env.MODELS_SECRET_ARN }))
  const secret = SecretString ?? '{}'
  const keys = keysOfSecret(secret)
  const tools = await createTools(
    toolConfigFromEnv({ ...keys, ...(env.CELLBLOCK_TOOLS === undefined ? {} : { CELLBLOCK_TOOLS: env.CELLBLOCK_TOOLS }) }),
  )
  return { tools, models: createModelCatalogue(chatConfigFromSecret(secret, env.CELLBLOCK_MODELS)) }
}

const deliver = createDeliveriesStep({ ...ports, webhookHosts: [] })
const handle = (message: QueueMessages['turns']): Promise<void> =>
  message.type === 'webhook.deliver' ? deliver(message) : runStep(message)

const holds = new SharedHolds({ ...ports.table, clock: ports.clock, name: 'turn_steps', capacity: env.CONCURRENT_STEPS })
const inShare = turnInShare({ holds, queue: ports.queue, step: handle })

export const handler = createBatchHandler('turns', inShare, logFailedMessage(ports.telemetry, 'turns'))
