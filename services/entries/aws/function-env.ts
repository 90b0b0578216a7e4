import * as z from 'zod'
import { DEPLOYED_DRIVERS } from '../../adapters/drivers/registry.ts'
import { LOG_LEVELS } from '../../ports/telemetry.ts'

/** The variables that every function of a deployment reads. */
export const FUNCTION_ENV = {
  AWS_REGION: z.string().min(1),
  STAGE: z.string().min(1),
  LOG_LEVEL: z.enum(LOG_LEVELS).default('info'),
  TABLE_NAME: z.string().min(1),
  BUCKET_NAME: z.string().min(1),
  TURNS_QUEUE_URL: z.url(),
  EXECUTIONS_QUEUE_URL: z.url(),
  PLACEMENTS_QUEUE_URL: z.url(),
  /** Where sandboxes run; it determines their prices. */
  SANDBOX_DRIVER: z.enum(DEPLOYED_DRIVERS).default('fargate'),
}

/** Of the functions that accept policies and enforce them. */
export const NETWORK_ENV = {
  /** Whether the deployment has a network gateway. Without one every policy but the empty one is refused. */
  NETWORK_GATEWAY: z.enum(['on', 'off']).default('off'),
}
