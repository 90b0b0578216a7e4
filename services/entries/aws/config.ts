import * as z from 'zod'
import { IMAGE_NAME, ImageCatalogue } from '../../model/containers/images.ts'
import { jsonVariable } from '../../model/json-variable.ts'
import { LIMITS, MEMORY_TIERS, type MemoryTier } from '../../model/limits.ts'
import { parseOnce } from '../../model/parse-once.ts'
import { ARCHITECTURES } from '../../adapters/drivers/driver-profile.ts'
import { DRIVERS } from '../../adapters/drivers/registry.ts'
import { FUNCTION_ENV, NETWORK_ENV } from './function-env.ts'

/** vCPUs by tier, where the operator chose others than the platform's: `{"1g":0.25}`. */
const vcpus = jsonVariable(z.partialRecord(z.enum(MEMORY_TIERS), z.number().positive())).default({})
const pool = z.partialRecord(z.enum(MEMORY_TIERS), z.number().int().min(0))
/** Disk of a sandbox, part of its price. */
const diskGiB = z.coerce.number().int().min(1).optional()
/** URI by the name with which containers ask for the image; the first is the default: `{"standard":"…:tag"}`. */
const images = jsonVariable(
  z
    .record(z.string().regex(IMAGE_NAME), z.string().min(1))
    .refine((found) => Object.keys(found).length > 0, 'must name at least one image')
    .transform((found) => new ImageCatalogue(found, Object.keys(found)[0] ?? '')),
)

/** The run worker: inside the VPC, connects to sandboxes, has no access to the platform. */
export const RunEnv = z.object({
  ...FUNCTION_ENV,
  ...NETWORK_ENV,
  SANDBOX_IMAGES: images,
  /** Architecture of the task definitions; it determines the price of a sandbox second. */
  SANDBOX_ARCHITECTURE: z.enum(ARCHITECTURES),
  SANDBOX_DISK_GIB: diskGiB,
  SANDBOX_VCPUS: vcpus,
})
export type RunEnv = z.input<typeof RunEnv>

/** The place worker and the reconciler: outside the VPC, the only ones that call the platform. The driver reads further variables. */
export const PlaceEnv = z.object({
  ...FUNCTION_ENV,
  SANDBOX_IMAGES: images,
  /** Determines the price of a sandbox second. */
  SANDBOX_ARCHITECTURE: z.enum(ARCHITECTURES),
  SANDBOX_DISK_GIB: diskGiB,
  SANDBOX_VCPUS: vcpus,
  /** Warm sandboxes of the default image by tier: `{"1g":2}`. */
  POOL_SIZES: jsonVariable(pool).default({}),
  /** The same for other images: `{"slim":{"1g":2}}`. */
  IMAGE_POOL_SIZES: jsonVariable(z.record(z.string(), pool)).default({}),
  /** An idle container hibernates after this long at the latest, seconds. */
  HIBERNATE_AFTER_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .default(LIMITS.hibernateAfterMinutes * 60),
  /** An idle container hibernates after this long while a warm sandbox waits to wake it, seconds. */
  EARLY_SLEEP_SECONDS: z.coerce.number().int().min(1).default(60),
  /** Maximum pool size by tier, reached with the rate of claims: `{"1g":20}`. */
  POOL_CEILINGS: jsonVariable(pool).default({}),
})
export type PlaceEnv = z.input<typeof PlaceEnv>

/** Throws a ZodError that names the variable at fault. */
export const runConfigFromEnv = (env: Readonly<Record<string, string | undefined>> = process.env): z.output<typeof RunEnv> =>
  parseOnce(RunEnv, env)
export const placeConfigFromEnv = (env: Readonly<Record<string, string | undefined>> = process.env): z.output<typeof PlaceEnv> =>
  parseOnce(PlaceEnv, env)

/** The price of a sandbox second by tier. */
export const costPerSecondFrom = ({
  SANDBOX_DRIVER,
  SANDBOX_ARCHITECTURE: architecture,
  SANDBOX_DISK_GIB: diskGiB,
  SANDBOX_VCPUS: chosen,
}: Pick<z.output<typeof RunEnv>, 'SANDBOX_DRIVER' | 'SANDBOX_ARCHITECTURE' | 'SANDBOX_DISK_GIB' | 'SANDBOX_VCPUS'>): ((
  tier: MemoryTier,
) => number) => {
  const { costPerSecond } = DRIVERS[SANDBOX_DRIVER]
  return (tier) => costPerSecond(tier, { architecture, diskGiB, vcpu: chosen[tier] })
}
