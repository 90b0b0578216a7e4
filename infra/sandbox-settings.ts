import * as z from 'zod'
import { BUILT_IN_IMAGES } from '../services/model/containers/images.ts'
import { LIMITS, MEMORY_TIERS, type MemoryTier } from '../services/model/limits.ts'
import { poolSizeFor } from '../services/model/sandboxes/pool-size.ts'
import { FARGATE_SIZES } from '../services/adapters/drivers/fargate/sizes.ts'
import { integer, matching } from './setting-types.ts'

/** Warm pool of a tier: its size, or the demand that it must serve (as in `npm run pool-size`). */
const Tier = z
  .strictObject({
    warm: integer(0, 500, 'sandboxes').optional(),
    /** Maximum pool size. The pool grows up to it while the claims of the last minute require it. */
    warmMax: integer(0, 500, 'sandboxes').optional(),
    /** Peak rate of new containers. */
    arrivalsPerMinute: z
      .number()
      .min(0, { error: 'must be at least 0 containers a minute' })
      .max(1_200, { error: 'must be at most 1200: one account and Region start 20 tasks a second' })
      .optional(),
    startSeconds: integer(1, 600, 'seconds').default(57),
    waitSeconds: integer(0, 600, 'seconds').default(0),
    sharePercent: integer(1, 99, 'percent').default(95),
    /** Processor of a sandbox. Fewer cost less, and code, imports and starts take longer (docs/cost.md). */
    vcpu: z.number().optional(),
  })
  .refine(({ warm, arrivalsPerMinute }) => (warm === undefined) !== (arrivalsPerMinute === undefined), {
    error: 'must have either warm (the pool size) or arrivalsPerMinute (the demand, from which the size is computed)',
  })
  .transform(({ warm, warmMax, arrivalsPerMinute = 0, startSeconds, waitSeconds, sharePercent, vcpu }) => ({
    ...(warmMax === undefined ? {} : { warmMax }),
    ...(vcpu === undefined ? {} : { vcpu }),
    warm:
      warm ??
      poolSizeFor({ arrivalsPerSecond: arrivalsPerMinute / 60, startSeconds, targetWaitSeconds: waitSeconds, share: sharePercent / 100 }),
  }))

/** Default of `sandboxes.hibernateAfterSeconds`. */
const MAX_IDLE_SECONDS = LIMITS.hibernateAfterMinutes * 60

/** Default of `sandboxes.earlySleepSeconds`. */
export const EARLY_SLEEP_SECONDS = 60

export const Sandboxes = z.strictObject({
  /** The memory tiers on offer, with the warm pool of each. A pool of 0 costs nothing; a first execution then waits for a cold start. */
  tiers: z
    .partialRecord(z.enum(MEMORY_TIERS), Tier, {
      error: `must be an object whose keys are memory tiers (${MEMORY_TIERS.join(', ')})`,
    })
    .superRefine((tiers, context) => {
      for (const [tier, { vcpu }] of Object.entries(tiers) as [MemoryTier, { readonly vcpu?: number }][]) {
        const { vcpus } = FARGATE_SIZES[tier]
        if (vcpu !== undefined && !vcpus.includes(vcpu))
          context.addIssue({
            code: 'custom',
            path: [tier, 'vcpu'],
            message: `must be ${vcpus.join(' or ')}: Fargate has no other size for ${tier}`,
          })
      }
    })
    .refine((tiers) => Object.keys(tiers).length > 0, { error: `must enable at least one memory tier of ${MEMORY_TIERS.join(', ')}` }),
  /** The images that containers may name (docs/images.md); the first is the default. Each gets a task definition per tier. */
  images: z
    .array(z.enum(BUILT_IN_IMAGES, { error: `must be ${BUILT_IN_IMAGES.join(', ')}` }))
    .min(1, { error: 'must name at least one image' })
    .refine((names) => new Set(names).size === names.length, { error: 'must name each image once' })
    .default(['standard', 'slim']),
  /** Warm sandboxes of the other images, by image and tier; `tiers` sizes the pools of the default image. */
  imagePools: z.partialRecord(z.enum(BUILT_IN_IMAGES), z.partialRecord(z.enum(MEMORY_TIERS), integer(0, 500, 'sandboxes'))).default({}),
  /** An idle container hibernates after this long while a warm sandbox waits to wake it; without one after five minutes. */
  earlySleepSeconds: integer(30, 300, 'seconds').default(EARLY_SLEEP_SECONDS),
  /** An idle container hibernates after this long at the latest. */
  hibernateAfterSeconds: integer(30, MAX_IDLE_SECONDS, 'seconds').default(MAX_IDLE_SECONDS),
  /** Must be the architecture that the image is built for. */
  architecture: z.enum(['X86_64', 'ARM64'], { error: 'must be X86_64 or ARM64, as the sandbox image is built' }),
  /** Share of sandboxes on Fargate Spot, percent. AWS can interrupt a Spot sandbox with two minutes' notice. */
  spotPercent: integer(0, 100, 'percent').default(0),
  /** Disk of a sandbox, image and `/mnt/data` included, GiB. */
  diskGiB: integer(21, 200, 'GiB').default(21),
  /** Tag of the default image in the stack's repository. Default: the content hash of runtime-image/. */
  imageTag: matching(/^[0-9A-Za-z_][0-9A-Za-z_.-]{0,127}$/, 'must be an image tag').optional(),
  /** A complete name of the default image that replaces the stack's repository, for emulated accounts. */
  imageUri: z.string().min(1, { error: 'must be the name of an image' }).optional(),
})
