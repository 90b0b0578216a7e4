import { generateKeyPairSync } from 'node:crypto'
import { newId } from '../ids.ts'
import type { MemoryTier } from '../limits.ts'
import { SUPERVISOR_PROTOCOL, type Sandbox } from './sandbox.ts'
import type { SandboxLimits } from '../tenants/tenant-limits.ts'

/** How long a start may take before the reconciler gives it up, milliseconds. Fargate needs about a minute. */
export const SANDBOX_START_MS = 180_000
/** How often the reconciler looks whether a sandbox is alive, milliseconds. */
export const SANDBOX_CHECK_MS = 30_000

/** A row for a sandbox that is about to be started, with a key pair of its own. `claimedBy` null means: for the pool. */
export function newSandbox(
  wanted: {
    readonly memoryTier: MemoryTier
    readonly limits?: SandboxLimits | null
    readonly image: string
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
