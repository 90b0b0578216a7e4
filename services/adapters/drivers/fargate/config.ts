import * as z from 'zod'
import { jsonVariable } from '../../../model/json-variable.ts'
import { MEMORY_TIERS } from '../../../model/limits.ts'
import { parseOnce } from '../../../model/parse-once.ts'

/** Name of the sandbox's container in its task; `RunTask` overrides its environment. Another one can be beside it: GuardDuty adds its agent where an organisation demands that. */
export const SANDBOX_CONTAINER = 'sandbox'

const ids = z.string().transform((text) => text.split(','))

/** Variables of the functions that call ECS. */
export const FargateEnv = z.object({
  AWS_REGION: z.string(),
  CLUSTER_ARN: z.string().min(1),
  /** Comma-separated. */
  SUBNET_IDS: ids,
  SECURITY_GROUP_IDS: ids,
  /** Task definition by image and tier: `{"standard":{"1g":"arn:…"}}`. */
  TASK_DEFINITIONS: jsonVariable(z.record(z.string(), z.partialRecord(z.enum(MEMORY_TIERS), z.string()))),
})
export type FargateEnv = z.input<typeof FargateEnv>

/** Throws a ZodError that names the variable at fault. */
export const fargateConfigFromEnv = (env: Readonly<Record<string, string | undefined>> = process.env): z.output<typeof FargateEnv> =>
  parseOnce(FargateEnv, env)
