/** One request of user code, as it is stored. `path` is without its query. */
export interface NetworkEntry {
  /** Epoch ms. */
  readonly at: number
  readonly host: string
  readonly method: string
  readonly path: string
  /** Null when no answer came. */
  readonly status: number | null
  readonly bytesUp: number
  readonly bytesDown: number
  readonly decision: 'allowed' | 'refused'
  readonly reason: string | null
  /** Names of the secrets that it received, with commas between them. */
  readonly secret: string | null
}

/** Entries of one row. The log of a container is a ring of these rows: the oldest one is removed for a new one. */
export interface NetworkBatch {
  readonly number: number
  readonly entries: readonly NetworkEntry[]
}

export const NETWORK_LOG = { perBatch: 100, batches: 100, maxPath: 512, maxReason: 300, maxHost: 260, maxMethod: 20 } as const

/** Position of an entry in the log of its container. */
export const positionOf = (batch: number, index: number): number => batch * NETWORK_LOG.perBatch + index

/** The batch with this position, and how many entries it has up to it. */
export const batchAt = (position: number): { readonly number: number; readonly count: number } => ({
  number: Math.floor(position / NETWORK_LOG.perBatch),
  count: (position % NETWORK_LOG.perBatch) + 1,
})

const PREFIX = 'net_'
export const entryId = (position: number): string => `${PREFIX}${position}`
/** Null for a text that is no id of an entry. */
export function entryPosition(id: string): number | null {
  const position = /^net_(\d{1,12})$/.exec(id)?.[1]
  return position === undefined ? null : Number(position)
}

/** Whether the ring keeps nothing before `oldest`, because it is full: both are ids of entries that it has. */
export const isWholeRing = (newest: string, oldest: string): boolean => batchOf(newest) - batchOf(oldest) + 1 >= NETWORK_LOG.batches
const batchOf = (id: string): number => Math.floor((entryPosition(id) ?? 0) / NETWORK_LOG.perBatch)

/** Texts of a sandbox, cut to what one row may hold. */
export const boundEntry = (entry: NetworkEntry): NetworkEntry => ({
  ...entry,
  host: entry.host.slice(0, NETWORK_LOG.maxHost),
  method: entry.method.slice(0, NETWORK_LOG.maxMethod),
  path: entry.path.slice(0, NETWORK_LOG.maxPath),
  reason: entry.reason?.slice(0, NETWORK_LOG.maxReason) ?? null,
})
