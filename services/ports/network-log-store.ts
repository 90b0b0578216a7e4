import type { NetworkBatch, NetworkEntry } from '../model/network/network-log.ts'
import type { PageRequest } from '../model/page.ts'

interface Of {
  readonly tenant: string
  readonly containerId: string
}

export interface NetworkLogStore {
  /**
   * Appends at most NETWORK_LOG.perBatch entries and removes the oldest batch of a full ring. Returns the position of the first one. `last`: the position
   * of the last entry, if the caller appended it a moment ago; entries that do not fit behind it then cost no read.
   */
  append(of: Of, entries: readonly NetworkEntry[], last?: number | null): Promise<number>
  /** A page; `after` is the id of an entry. Consistent. */
  list(
    of: Of,
    page: PageRequest,
  ): Promise<{ readonly rows: readonly { readonly id: string; readonly entry: NetworkEntry }[]; readonly hasMore: boolean }>
  /** Removes batches whose last entry is older, epoch ms. Returns the oldest one that remains; null for none. */
  removeBefore(of: Of, time: number): Promise<NetworkBatch | null>
}
