import * as z from 'zod'
import { parseOnce } from '../../model/parse-once.ts'

/** What is in front of the API in AWS. */
export const INGRESSES = ['distribution', 'load_balancer'] as const

/** Configuration of what is in front of the API in AWS. */
export const OriginEnv = z.object({
  /** The Secrets Manager secret that a distribution sends along, and from which the secret of sessions is derived. Absent: neither is used. */
  ORIGIN_SECRET_ARN: z.string().min(1).optional(),
  /** Behind an internal load balancer no request shows the origin secret, because nothing else reaches the tasks. */
  INGRESS: z.enum(INGRESSES).default('distribution'),
  /** The bucket with the files of the page. Without one, or without the origin secret, the API serves no page. */
  SITE_BUCKET: z.string().min(1).optional(),
})
export type OriginEnv = z.input<typeof OriginEnv>

/** Throws a ZodError that names the variable at fault. */
export const originConfigFromEnv = (env: Readonly<Record<string, string | undefined>> = process.env): z.output<typeof OriginEnv> =>
  parseOnce(OriginEnv, env)

/** The header with the distribution's secret; `infra` sets it. */
export const ORIGIN_SECRET_HEADER = 'x-cellblock-origin'

/** The answer to a browser's preflight from an allowed origin. The API gives it, and in front of a function the distribution. */
export const PREFLIGHT = { methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], maxAgeSeconds: 3_600 } as const

/** Prefix of the page's files in the bucket of the site. */
export const PAGE_PREFIX = 'page/'
/** Key of the script of the API reference there. A distribution serves it; behind a load balancer the API does. */
export const REFERENCE_KEY = 'docs/reference.js'

/** Path of the health check of the upload service's load balancer. */
export const HEALTH_PATH = '/healthz'

/** What the server of the upload service reads besides the variables of the API. */
const UploadServerEnv = z.object({ PORT: z.coerce.number().int().min(0).max(65_535).default(8080) })

/** Throws a ZodError that names the variable at fault. */
export const uploadServerConfigFromEnv = (
  env: Readonly<Record<string, string | undefined>> = process.env,
): z.output<typeof UploadServerEnv> => parseOnce(UploadServerEnv, env)

/**
 * The largest request bodies behind a function URL, bytes. Lambda takes 6 MB per event. A binary body, multipart forms included, is in base64 there;
 * JSON is text with its quotation marks escaped, which makes
 * it up to a third longer in practice. Above 6 MB Lambda answers itself, outside the API's error envelope, so the edge refuses earlier.
 */
export const LAMBDA_REQUEST_BYTES = { json: 4_400_000, binary: 4_400_000 } as const

/** Lambda streams the first 6 MB of an answer at once and then 2 MB per second, and cuts it after 200 MB without an error. */
export const LAMBDA_ANSWER_BYTES = { redirectBytes: 4_000_000, maxBytes: 190_000_000 } as const
