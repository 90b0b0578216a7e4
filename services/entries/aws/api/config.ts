import * as z from 'zod'
import { IMAGE_NAME } from '../../../model/containers/images.ts'
import { MEMORY_TIERS } from '../../../model/limits.ts'
import { parseOnce } from '../../../model/parse-once.ts'
import { ApiConfig, flag, hostList, issuerList, namesIn, originList } from '../../../http/config.ts'
import { INGRESSES, LAMBDA_ANSWER_BYTES, LAMBDA_REQUEST_BYTES } from '../../../http/origin/config.ts'
import { FUNCTION_ENV, NETWORK_ENV } from '../function-env.ts'

/** The variables that the Lambda entry reads; infra writes them, so a missing one does not compile there. */
export const ApiEnv = z.object({
  ...FUNCTION_ENV,
  ...NETWORK_ENV,
  /** Names of the models, comma-separated. */
  MODEL_NAMES: z.string().default('demo'),
  /** Types of the chat worker's tools, comma-separated; other words for one follow it after a `|`. */
  TOOL_TYPES: z.string().default(''),
  PUBLIC_URL: z.string().optional(),
  TRUST_PROXY: flag.optional(),
  ALLOWED_HOSTS: hostList.optional(),
  MAX_OPEN_STREAMS: z.coerce.number().int().positive().optional(),
  /** Set for functions only. Calls that all functions of the API together can have open; without it a process counts its own streams, as a task does. */
  OPEN_CALLS: z.coerce.number().int().positive().optional(),
  CORS_ORIGINS: originList.optional(),
  LINKS_REQUIRE_KEY: flag.optional(),
  /** Whether the distribution passes bodies that are too large for a function to the upload service. */
  UPLOAD_SERVICE: flag.optional(),
  /** What passes requests on: the distribution, or a load balancer in front of tasks, which passes bodies of any size. */
  INGRESS: z.enum(INGRESSES).default('distribution'),
  /** JSON list of token issuers. */
  TOKEN_ISSUERS: issuerList.optional(),
  /** Names of the images on offer, comma-separated; the first is the default. */
  IMAGE_NAMES: z
    .string()
    .transform((text) => namesIn(text))
    .pipe(z.array(z.string().regex(IMAGE_NAME)).min(1))
    .default(['slim']),
  /** The memory tiers on offer, comma-separated. */
  MEMORY_TIERS: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(MEMORY_TIERS)))
    .optional(),
})
export type ApiEnv = z.input<typeof ApiEnv>

/** Lambda ends a function after 15 minutes. A call stays open for so long only while its tenant is within its share (`SharedHolds`). */
const LAMBDA_HOLD_SECONDS = 14 * 60

export interface ApiFunctionConfig {
  /** The variables of every function. */
  readonly env: Pick<z.output<typeof ApiEnv>, keyof typeof FUNCTION_ENV | keyof typeof NETWORK_ENV>
  readonly models: readonly string[]
  readonly toolTypes: readonly (readonly string[])[]
  readonly images: readonly string[]
  readonly api: ApiConfig
}

/** Throws a ZodError that names the variable at fault. */
export function apiConfigFromEnv(env: Readonly<Record<string, string | undefined>> = process.env): ApiFunctionConfig {
  const parsed = parseOnce(ApiEnv, env)
  return {
    env: parsed,
    models: namesIn(parsed.MODEL_NAMES),
    toolTypes: namesIn(parsed.TOOL_TYPES).map((names) => names.split('|')),
    images: parsed.IMAGE_NAMES,
    api: parseOnce(ApiConfig, {
      publicUrl: parsed.PUBLIC_URL ?? null,
      // AWS routes a request to the function by its host name, and the distribution overwrites the forwarded one.
      allowedHosts: parsed.ALLOWED_HOSTS ?? null,
      trustProxy: parsed.TRUST_PROXY ?? false,
      isHttpsOnly: parsed.INGRESS === 'distribution',
      maxHoldSeconds: LAMBDA_HOLD_SECONDS,
      maxOpenStreams: parsed.MAX_OPEN_STREAMS,
      openCalls: parsed.OPEN_CALLS ?? null,
      answerBytes: parsed.OPEN_CALLS === undefined ? null : LAMBDA_ANSWER_BYTES,
      corsOrigins: parsed.CORS_ORIGINS,
      tokenIssuers: parsed.TOKEN_ISSUERS,
      memoryTiers: parsed.MEMORY_TIERS,
      auditFlushMs: 0,
      requestBytes: parsed.UPLOAD_SERVICE === true || parsed.INGRESS === 'load_balancer' ? null : LAMBDA_REQUEST_BYTES,
    }),
  }
}
