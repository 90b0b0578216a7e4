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
