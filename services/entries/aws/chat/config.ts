import * as z from 'zod'
import { parseOnce } from '../../../model/parse-once.ts'
import { FUNCTION_ENV } from '../function-env.ts'

/** The time limit of the function; Lambda's maximum. */
export const CHAT_FUNCTION_SECONDS = 900
/** Reserved for the end of a turn whose answer was cut off: its links, its items and its row. */
const END_SECONDS = 30
/** An answer of the model ends this long after the message arrived, milliseconds. */
export const CHAT_STEP_LIMIT_MS = (CHAT_FUNCTION_SECONDS - END_SECONDS) * 1000

/** The variables that the Lambda entry reads; infra writes them. Model keys come from the secret. */
export const ChatEnv = z.object({
  ...FUNCTION_ENV,
  MODELS_SECRET_ARN: z.string().min(1),
  CELLBLOCK_MODELS: z.string().optional(),
  /** Folder of the operator's tools in the bundle. */
  CELLBLOCK_TOOLS: z.string().optional(),
  /** Steps of turns that all functions together process at the same time. */
  CONCURRENT_STEPS: z.coerce.number().int().min(1),
})
export type ChatEnv = z.input<typeof ChatEnv>

/** Throws a ZodError that names the variable at fault. */
export const chatEnvFromEnv = (env: Readonly<Record<string, string | undefined>> = process.env): z.output<typeof ChatEnv> =>
  parseOnce(ChatEnv, env)
