/** Locks that processes share. A lock is not released: it ends at its time. */
export interface LockStore {
  /** Takes the lock until `until`, epoch ms. False while it is taken at `now`. */
  acquire(name: string, now: number, until: number): Promise<boolean>
}
