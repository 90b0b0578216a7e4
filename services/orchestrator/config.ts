import { z } from 'zod'
import { IMAGE_NAME } from '../core/containers/images.ts'
import { MEMORY_TIERS } from '../core/limits.ts'
import { ARCHITECTURES } from './drivers/driver-profile.ts'

const storage = {
  AWS_REGION: z.string(),
  TABLE_NAME: z.string().min(1),
  BUCKET_NAME: z.string().min(1),
  TURNS_QUEUE_URL: z.string().url(),
  EXECUTIONS_QUEUE_URL: z.string().url(),
  PLACEMENTS_QUEUE_URL: z.string().url(),
  STAGE: z.string().min(1),
}
/** Where sandboxes run; a key of the driver registry. */
const sandboxDriver = z.literal('fargate').default('fargate')
/** The name by which containers ask for the image. */
const imageName = z.string().regex(IMAGE_NAME).default('slim')
const json = <T extends z.ZodType>(schema: T) =>
  z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown
      } catch {
        context.addIssue({ code: 'custom', message: 'is not JSON' })
        return z.NEVER
      }
    })
    .pipe(schema)

/** The run worker: inside the VPC, reaches sandboxes, knows nothing of ECS. */
export const RunEnv = z.object({
  ...storage,
  SANDBOX_DRIVER: sandboxDriver,
  SANDBOX_IMAGE: z.string().min(1),
  SANDBOX_IMAGE_NAME: imageName,
  /** Of the task definitions; it decides the price of a sandbox second. */
  SANDBOX_ARCHITECTURE: z.enum(ARCHITECTURES),
})
export type RunEnv = z.input<typeof RunEnv>

/** The place worker and the reconciler: outside the VPC, the only ones that call ECS. */
export const PlaceEnv = z.object({
  ...storage,
  SANDBOX_DRIVER: sandboxDriver,
  SANDBOX_IMAGE: z.string().min(1),
  SANDBOX_IMAGE_NAME: imageName,
  /** Decides what a second of a sandbox costs. */
  SANDBOX_ARCHITECTURE: z.enum(ARCHITECTURES),
  CLUSTER_ARN: z.string().min(1),
  /** Comma-separated. */
  SUBNET_IDS: z.string().transform((text) => text.split(',')),
  SECURITY_GROUP_IDS: z.string().transform((text) => text.split(',')),
  /** Task definition by tier: `{"1g":"arn:…"}`. */
  TASK_DEFINITIONS: json(z.partialRecord(z.enum(MEMORY_TIERS), z.string())),
  /** Warm sandboxes by tier: `{"1g":2}`. */
  POOL_SIZES: json(z.partialRecord(z.enum(MEMORY_TIERS), z.number().int().min(0))).default({}),
  /** How far each pool may grow with the claims of the last minute: `{"1g":20}`. */
  POOL_CEILINGS: json(z.partialRecord(z.enum(MEMORY_TIERS), z.number().int().min(0))).default({}),
})
export type PlaceEnv = z.input<typeof PlaceEnv>

/** Throws a ZodError that names the variable at fault. */
export const runConfigFromEnv = (env: Readonly<Record<string, string | undefined>> = process.env): z.output<typeof RunEnv> =>
  RunEnv.parse(env)
export const placeConfigFromEnv = (env: Readonly<Record<string, string | undefined>> = process.env): z.output<typeof PlaceEnv> =>
  PlaceEnv.parse(env)
