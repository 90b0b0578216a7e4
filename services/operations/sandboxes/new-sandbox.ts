import { generateKeyPairSync } from 'node:crypto'
import { newId } from '../../model/ids.ts'
import type { MemoryTier } from '../../model/limits.ts'
import type { DriverCapabilities } from '../../ports/sandbox-driver.ts'
import { SUPERVISOR_PROTOCOL, type Sandbox } from '../../model/sandboxes/sandbox.ts'
import type { SandboxLimits } from '../../model/tenants/tenant-limits.ts'

/** Minimum time after which a start is abandoned, milliseconds. */
export const SANDBOX_START_MS = 180_000
/** A start that takes this many times the driver's typical time is abandoned. */
const ABANDON_FACTOR = 3
/** Interval at which the reconciler checks a sandbox, milliseconds. */
export const SANDBOX_CHECK_MS = 30_000

/** Time after which a start is abandoned, milliseconds. */
export const startTimeoutMs = ({ startMs }: Pick<DriverCapabilities, 'startMs'>): number =>
  Math.max(SANDBOX_START_MS, ABANDON_FACTOR * startMs)

/** A row for a sandbox to start, with a new key pair. `claimedBy` null means: for the warm pool. */
export function newSandbox(
  wanted: {
    readonly memoryTier: MemoryTier
    readonly limits?: SandboxLimits | null
    readonly image: string
    readonly imageName?: string
    readonly claimedBy: Sandbox['claimedBy']
  },
  now: number,
): Sandbox {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return {
    v: 1,
    id: newId('sandbox'),
    state: 'starting',
    memoryTier: wanted.memoryTier,
    limits: wanted.limits ?? null,
    protocol: SUPERVISOR_PROTOCOL,
    image: wanted.image,
    imageName: wanted.imageName ?? null,
    address: null,
    privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64url'),
    publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64url'),
    claimedBy: wanted.claimedBy,
    createdAt: now,
    readyAt: null,
    answeredAt: null,
    claimedAt: wanted.claimedBy === null ? null : now,
    dueAt: now + SANDBOX_CHECK_MS,
  }
}
