import { z } from 'zod'

const flag = z.enum(['true', 'false', '1', '0']).transform((value) => value === 'true' || value === '1')

/** What the HTTP edge wants to know of its surroundings. */
export const ApiConfig = z.object({
  /** The address by which clients reach the API, without a trailing slash. Null: taken from the request's Host header. */
  publicUrl: z.string().url().transform((url) => url.replace(/\/+$/, '')).nullable().default(null),
  /** Believe `X-Forwarded-Proto` and `X-Forwarded-Host`. Only behind a proxy that sets them itself. */
  trustProxy: z.boolean().default(false),
  /** A comment goes out on a silent event stream this often, milliseconds. */
  heartbeatMs: z.number().int().positive().default(10_000),
  /** A verified API key is believed this long, milliseconds: so long may a revoked key go on working. */
  keyCacheMs: z.number().int().nonnegative().default(60_000),
})
export type ApiConfig = z.infer<typeof ApiConfig>

/** The variables that the Lambda entry reads. */
export const ApiEnv = z.object({
  PUBLIC_URL: z.string().optional(),
  TRUST_PROXY: flag.optional(),
})
export type ApiEnv = z.input<typeof ApiEnv>

/** Throws a ZodError that names the variable at fault. */
export function apiConfigFromEnv(env: Readonly<Record<string, string | undefined>> = process.env): ApiConfig {
  const parsed = ApiEnv.parse(env)
  return ApiConfig.parse({ publicUrl: parsed.PUBLIC_URL ?? null, trustProxy: parsed.TRUST_PROXY ?? false })
}
