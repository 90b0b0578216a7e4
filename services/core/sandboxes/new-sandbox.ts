import { generateKeyPairSync } from 'node:crypto'
import { newId } from '../ids.ts'
import type { MemoryTier } from '../limits.ts'
import { SUPERVISOR_PROTOCOL, type Sandbox } from './sandbox.ts'
import type { SandboxLimits } from '../tenants/tenant-limits.ts'

/** Time after which the reconciler abandons a start, milliseconds. Fargate needs about a minute. */
export const SANDBOX_START_MS = 180_000
/** Interval at which the reconciler checks a sandbox, milliseconds. */
export const SANDBOX_CHECK_MS = 30_000

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
