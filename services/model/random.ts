import { randomBytes, randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(4_096)
let used = pool.length

/**
 * Bytes of the system's secure generator, for ids and nonces of every request: one call of the generator fills a pool for many of them. Secrets
 * that live longer come from `randomBytes`, so that no copy of them stays in the pool.
 */
export function pooledRandom(bytes: number): Buffer {
  if (bytes > pool.length) return randomBytes(bytes)
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const taken = Buffer.from(pool.subarray(used, used + bytes))
  used += bytes
  return taken
}
