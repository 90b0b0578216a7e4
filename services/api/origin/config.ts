import { z } from 'zod'

/** What the Lambda entry needs to know of the distribution before it. */
export const OriginEnv = z.object({
  /** The Secrets Manager secret that the distribution sends along. Without one nothing stands before the function, as in an emulated account. */
  ORIGIN_SECRET_ARN: z.string().min(1).optional(),
})
export type OriginEnv = z.input<typeof OriginEnv>

/** Throws a ZodError that names the variable at fault. */
export const originConfigFromEnv = (env: Readonly<Record<string, string | undefined>> = process.env): z.output<typeof OriginEnv> =>
  OriginEnv.parse(env)

/**
 * The largest request bodies behind a function URL, bytes. Lambda takes 6 MB per event. A binary body, multipart forms included, is in base64 there;
 * JSON is text with its quotation marks escaped. Above 6 MB Lambda answers itself, outside the API's error envelope, so the edge refuses earlier.
 */
export const LAMBDA_REQUEST_BYTES = { json: 5_500_000, binary: 4_400_000 } as const
