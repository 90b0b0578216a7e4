import type { Config } from '../../../infra/config.ts'
import { MEMORY_TIERS, type MemoryTier } from '../../../services/model/limits.ts'
import type { SandboxDriver } from '../../../services/ports/sandbox-driver.ts'
import type { SandboxStore } from '../../../services/ports/sandbox-store.ts'
import { SUPERVISOR_PROTOCOL, type Sandbox } from '../../../services/model/sandboxes/sandbox.ts'
import { fail, ok, warn, type Finding } from '../finding.ts'
import { reasonOf } from './service-calls.ts'

const CHECK = 'Warm pool'

interface Pool {
  readonly imageName: string
  readonly tier: MemoryTier
  readonly min: number
  readonly max: number
}

export interface WarmPoolOptions {
  readonly sandboxes: Pick<SandboxStore, 'all'>
  /** Its default image and reference are those of the deployment. */
  readonly driver: Pick<SandboxDriver, 'inspectAll' | 'images'>
  readonly settings: Pick<Config['sandboxes'], 'tiers' | 'imagePools'>
}

/** Whether each pool has the size of the settings: rows that can be claimed now, whose tasks ECS runs. */
export async function checkWarmPool({ sandboxes, driver, settings }: WarmPoolOptions): Promise<Finding> {
  const pools = poolsOf(settings, driver.images.defaultName)
  try {
    const rows = (await sandboxes.all()).filter(
      ({ claimedBy, readyAt, state }) => claimedBy === null && readyAt !== null && state === 'ready',
    )
    const usable = rows.filter((row) => isCurrent(row, driver))
    const statuses = await driver.inspectAll(usable)
    const lost = usable.filter((_, place) => statuses[place]?.phase === 'gone')
    if (lost.length > 0)
      return fail(
        CHECK,
        `${lost.length} of ${usable.length} sandboxes have no task. The reconciler removes them within a minute; check its alarms.`,
      )
    return evaluatePools(pools, usable, driver.images.defaultName)
  } catch (error) {
    return warn(CHECK, `could not be read (${reasonOf(error)}): these credentials need to read the table and ecs:DescribeTasks.`)
  }
}

function poolsOf({ tiers, imagePools }: WarmPoolOptions['settings'], defaultName: string): readonly Pool[] {
  const sized = MEMORY_TIERS.flatMap((tier) => {
    const { warm = 0, warmMax = warm } = tiers[tier] ?? {}
    const others = Object.entries(imagePools).map(([imageName, sizes]) => ({
      imageName,
      tier,
      min: sizes[tier] ?? 0,
      max: sizes[tier] ?? 0,
    }))
    return [
      { imageName: defaultName, tier, min: warm, max: Math.max(warm, warmMax) },
      ...others.filter((pool) => pool.imageName !== defaultName),
    ]
  })
  return sized
}

/** Sandboxes of another protocol, and of another version of the default image, are never claimed. */
function isCurrent({ protocol, image, imageName }: Sandbox, { images }: WarmPoolOptions['driver']): boolean {
  const isDefault = (imageName ?? images.defaultName) === images.defaultName
  return protocol === SUPERVISOR_PROTOCOL && (!isDefault || image === images.resolve().reference)
}

function evaluatePools(pools: readonly Pool[], rows: readonly Sandbox[], defaultName: string): Finding {
  const counted = pools.map((pool) => ({
    ...pool,
    ready: rows.filter((row) => row.memoryTier === pool.tier && (row.imageName ?? defaultName) === pool.imageName).length,
  }))
  const said = ({ imageName, tier, ready, min }: (typeof counted)[number]): string => `${imageName} ${tier}: ${ready} of ${min} ready`
  const short = counted.filter(({ ready, min }) => ready < min)
  if (short.length > 0)
    return fail(
      CHECK,
      `${short.map(said).join(', ')}. A pool fills within minutes: check the vCPU quota, and the alarms of sandbox starts.`,
    )
  const over = counted.filter(({ ready, max }) => ready > max)
  if (over.length > 0)
    return warn(CHECK, `${over.map(said).join(', ')}: more than the settings. Run npm run deploy if cdk.json has changed.`)
  const used = counted.filter(({ max }) => max > 0)
  return ok(CHECK, used.length === 0 ? 'no pool is configured' : used.map(said).join(', '))
}
