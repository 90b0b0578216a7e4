import * as z from 'zod'
import { parseOnce } from '../../../model/parse-once.ts'
import { FUNCTION_ENV } from '../function-env.ts'

/** The variables that the Lambda entry reads; infra writes them. Model keys come from the secret. */
export const ChatEnv = z.object({
  ...FUNCTION_ENV,
  MODELS_SECRET_ARN: z.string().min(1),
  CELLBLOCK_MODELS: z.string().optional(),
  /** Folder of the operator's tools in the bundle. */
  CELLBLOCK_TOOLS: z.string().optional(),
})
export type ChatEnv = z.input<typeof ChatEnv>

/** Throws a ZodError that names the variable at fault. */
export const chatEnvFromEnv = (env: Readonly<Record<string, string | undefined>> = process.env): z.output<typeof ChatEnv> =>
  parseOnce(ChatEnv, env)
