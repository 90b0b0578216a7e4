import { createHash } from 'node:crypto'

/** One change that a key requested: who, what, and with which result. Never code, content or names. */
export interface AuditEntry {
  /** Epoch ms. */
  readonly at: number
  readonly keyId: string
  readonly subject: string | null
  /** The operation's id in the OpenAPI document. */
  readonly action: string
  /** HTTP status of the answer. */
  readonly status: number
  readonly requestId: string
  /** Ids of the objects that the request named or created. */
  readonly targets: Readonly<Record<string, string>>
}

/** A link of a tenant's chain: each block contains the hash of the one before, so no entry can be changed, removed or inserted unnoticed. */
export interface AuditBlock {
  readonly v: 1
  readonly tenant: string
  /** 1 for the first block. */
  readonly seq: number
  readonly at: number
  readonly entries: readonly AuditEntry[]
  /** Empty before the first block. */
  readonly previousHash: string
  readonly hash: string
}

export const blockHash = ({ tenant, seq, at, entries, previousHash }: Omit<AuditBlock, 'v' | 'hash'>): string =>
  createHash('sha256')
    .update(JSON.stringify([tenant, seq, at, entries.map(ordered), previousHash]))
    .digest('hex')

/** Storage may return the fields of an object in another order. */
const ordered = ({ at, keyId, subject, action, status, requestId, targets }: AuditEntry): readonly unknown[] => [
  at,
  keyId,
  subject,
  action,
  status,
  requestId,
  Object.entries(targets).toSorted(([a], [b]) => (a < b ? -1 : 1)),
]

export function nextBlock(
  last: AuditBlock | null,
  { tenant, entries, now }: { readonly tenant: string; readonly entries: readonly AuditEntry[]; readonly now: number },
): AuditBlock {
  const block = { tenant, seq: (last?.seq ?? 0) + 1, at: Math.max(now, last?.at ?? 0), entries, previousHash: last?.hash ?? '' }
  return { v: 1, ...block, hash: blockHash(block) }
}

/** What is wrong with consecutive blocks; null when nothing is. `before` is the block that precedes them, as far as it is known. */
export function chainProblem(blocks: readonly AuditBlock[], before: Pick<AuditBlock, 'seq' | 'hash'> | null): string | null {
  let last = before
  for (const block of blocks) {
    if (block.hash !== blockHash(block)) return `block ${block.seq} was changed`
    if (last !== null && block.seq !== last.seq + 1) return `block ${last.seq + 1} is missing before block ${block.seq}`
    if (last !== null && block.previousHash !== last.hash) return `block ${block.seq} does not continue block ${last.seq}`
    if (last === null && block.seq === 1 && block.previousHash !== '') return 'block 1 names a block before it'
    last = block
  }
  return null
}
