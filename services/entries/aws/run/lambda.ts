import { newId } from '../../../model/ids.ts'
import { createFunctionPorts } from '../../../adapters/storage/function-ports.ts'
import { logFailedMessage } from '../../../adapters/storage/json-log.ts'
import { createBatchHandler } from '../../../adapters/storage/sqs/lambda-batch.ts'
import { costPerSecondFrom, runConfigFromEnv } from '../config.ts'
import { networkPorts } from '../network-ports.ts'
import { DRIVERS } from '../../../adapters/drivers/registry.ts'
import { createSandboxLink } from '../../../adapters/link/create-sandbox-link.ts'
import { createSupervisorClient } from '../../../adapters/supervisor-client/supervisor-client.ts'
import { createRunStep } from '../../../workers/run/step/run-step.ts'

/** A step hands over to a new message well before Lambda ends it, milliseconds. */
const STEP_BUDGET_MS = 50_000

const config = runConfigFromEnv()
const ports = createFunctionPorts(config)
const { capabilities } = DRIVERS[config.SANDBOX_DRIVER]
const step = createRunStep({
  ...ports,
  supervisor: createSupervisorClient({ link: createSandboxLink({ kinds: capabilities.addressKinds }) }),
  ...networkPorts(config, ports),
  workerId: newId('worker'),
  images: config.SANDBOX_IMAGES,
  stepBudgetMs: STEP_BUDGET_MS,
  costPerSecond: costPerSecondFrom(config),
})

export const handler = createBatchHandler('executions', step, logFailedMessage(ports.telemetry, 'executions'))
