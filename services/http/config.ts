import * as z from 'zod'
import { LIMITS, MEMORY_TIERS } from '../model/limits.ts'

/** Names by which a server is reached from its own machine. */
export const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** The names in a comma-separated list. */
export function namesIn(list: string): readonly string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

export const flag = z.enum(['true', 'false', '1', '0']).transform((value) => value === 'true' || value === '1')

/** Origins, comma-separated. */
export const originList = z
  .string()
  .transform((list) => namesIn(list))
  .pipe(
    z.array(z.string().regex(/^https?:\/\/[^/*\s]+$/, 'must be origins such as https://app.example.com, separated by commas')).readonly(),
  )

/** Host names, comma-separated, with or without a port. */
export const hostList = z
  .string()
  .transform((list) => namesIn(list))
  .pipe(
    z
      .array(
        z
          .string()
          .regex(/^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i, 'must be host names such as code.example.org, separated by commas'),
      )
      .readonly(),
  )

/** An issuer of JSON Web Tokens that work in place of API keys. */
const TokenIssuer = z.strictObject({
  /** The exact value of `iss`. */
  issuer: z.string().min(1),
  /** Where its public keys are: https, or http on this machine. */
  jwksUrl: z
    .url()
    .refine((url) => url.startsWith('https://') || LOOPBACK_HOSTS.includes(new URL(url).hostname), 'must be an https address'),
  /** The value that `aud` has to contain. */
  audience: z.string().min(1),
  /** The tenant of all its tokens; null: `tenantClaim` names it. */
  tenant: z.string().nullable().default(null),
  tenantClaim: z.string().default('tenant'),
  /** The claim with the end user; null gives its tokens the whole tenant. */
  subjectClaim: z.string().nullable().default('sub'),
  /** The claim with the scopes; null gives every token all but `admin`. */
  scopesClaim: z.string().nullable().default('scope'),
  /** Whether its tokens may have the scope `admin`. */
  mayAdminister: z.boolean().default(false),
})
export type TokenIssuer = z.infer<typeof TokenIssuer>

/** Issuers as JSON text. */
export const issuerList = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text)
    } catch {
      context.addIssue({ code: 'custom', message: 'must be a JSON list of issuers' })
      return z.NEVER
    }
  })
  .pipe(z.array(TokenIssuer).readonly())

/** Configuration of the HTTP edge. */
export const ApiConfig = z.object({
  /** The address by which clients reach the API, without a trailing slash. Null: taken from the request's Host header. */
  publicUrl: z
    .string()
    .url()
    .transform((url) => url.replace(/\/+$/, ''))
    .nullable()
    .default(null),
  /** Host names besides that of `publicUrl` for which it answers. Null: the proxy in front passes only requests for its own names. */
  allowedHosts: z
    .array(z.string())
    .readonly()
    .nullable()
    .default([...LOOPBACK_HOSTS]),
  /** Settings of wires by the names of their environment variables. Each wire checks and reads its own. */
  wireSettings: z.record(z.string(), z.string()).readonly().default({}),
  /** Whether to trust `X-Forwarded-Proto` and `X-Forwarded-Host`. Only behind a proxy that sets them. */
  trustProxy: z.boolean().default(false),
  /** Whether clients reach the API over https only, whatever the last proxy says: the load balancer behind a distribution sees http. */
  isHttpsOnly: z.boolean().default(false),
  /** Interval of comments on a silent event stream, milliseconds. */
  heartbeatMs: z.number().int().positive().default(10_000),
  /** A verified API key is cached for this time, milliseconds, so a revoked key may work that much longer. */
  keyCacheMs: z.number().int().nonnegative().default(5_000),
  /**
   * Maximum time for which a plain turn or a stream holds its connection, seconds. The default exceeds the limit of a turn and its last step. Where a
   * function ends sooner, it is lower, and the client reads the response again or resumes the stream.
   */
  maxHoldSeconds: z
    .number()
    .positive()
    .default(LIMITS.maxResponseSeconds + 30),
  /** Memory tiers that sandboxes of this server can have. */
  memoryTiers: z
    .array(z.enum(MEMORY_TIERS))
    .min(1)
    .default([...MEMORY_TIERS]),
  /** Calls that all processes together can have open, counted in the table. Null: each process counts its own streams. */
  openCalls: z.number().int().positive().nullable().default(null),
  /** Maximum number of open event streams of this process. */
  maxOpenStreams: z.number().int().positive().default(LIMITS.maxOpenStreams),
  /** Maximum size of results in memory of this process, bytes; beyond it calls get 429. */
  maxResultBytesInFlight: z.number().int().positive().default(LIMITS.maxResultBytesInFlight),
  /** Maximum size of request bodies in memory of this process, bytes; beyond it calls get 429. */
  maxRequestBytesInFlight: z.number().int().positive().default(LIMITS.maxRequestBytesInFlight),
  /** A body that makes no progress for this time is refused with 408, milliseconds. */
  stallMs: z
    .number()
    .int()
    .positive()
    .default(LIMITS.stallSeconds * 1000),
  /** Maximum body sizes that the proxy in front of the API passes on, bytes. Null: only the API's own limits apply. */
  requestBytes: z.object({ json: z.number().int().positive(), binary: z.number().int().positive() }).nullable().default(null),
  /**
   * Limits of what is in front of the API: files above `redirectBytes` are answered with a link where the clients of a wire follow it, and an answer has at most
   * `maxBytes`. Null: none.
   */
  answerBytes: z.object({ redirectBytes: z.number().int().positive(), maxBytes: z.number().int().positive() }).nullable().default(null),
  /** Audit entries of ordinary requests are stored within this time, milliseconds; 0: before the answer, for a process that may stop after it. */
  auditFlushMs: z.number().int().nonnegative().default(1_000),
  /** Whether a `/d/…` link opens only with an API key of its tenant. */
  linksRequireKey: z.boolean().default(false),
  /** Host names to which webhooks may go over http and at private addresses. */
  webhookHosts: z.array(z.string()).readonly().default([]),
  /** Origins whose pages may call from a browser, such as `https://app.example.com`. */
  corsOrigins: z.array(z.string()).readonly().default([]),
  /** Issuers whose tokens are accepted besides API keys. */
  tokenIssuers: z.array(TokenIssuer).readonly().default([]),
})
export type ApiConfig = z.infer<typeof ApiConfig>
