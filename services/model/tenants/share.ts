/** From this part of a pool on, a tenant is held to its share. */
const FREE_PART = 1 / 2
const SHARE = 1 / 4

/** What of a pool is taken. */
export interface PoolUse {
  readonly held: number
  readonly heldByTenant: number
  readonly capacity: number
}

/** Places of a pool that a tenant may hold once the pool is half full. */
export const shareOf = (capacity: number): number => Math.ceil(capacity * SHARE)

/** Whether a tenant may take one more place: any free one while the pool is less than half full, then only within its quarter. */
export const admitsShare = ({ held, heldByTenant, capacity }: PoolUse): boolean =>
  held < capacity && (held < capacity * FREE_PART || heldByTenant < shareOf(capacity))
