import { createHash, randomBytes } from 'node:crypto'
import { positionTime, type Conversation, type ConversationItem, type ConversationShare } from '../../model/conversations/conversation.ts'
import { ServiceError } from '../../model/errors.ts'
import { newId } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import { DAY_MS } from '../../model/tenants/retention.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Table } from '../../ports/table.ts'

const MINUTE_MS = 60_000
const SECRET_BYTES = 32
const MAX_TOKEN_CHARACTERS = 1_000

interface ShareDeps {
  readonly table: Pick<Table, 'conversations' | 'sharedRows'>
  readonly clock: Clock
}

/** A conversation as one of its links shows it. */
export interface SharedConversation {
  readonly row: Conversation
  readonly share: ConversationShare
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')

/** The token names the row that it opens, so that no index is needed, and ends with a secret. */
const newToken = ({ tenant, id }: Conversation): string =>
  Buffer.from(JSON.stringify([tenant, id, randomBytes(SECRET_BYTES).toString('base64url')])).toString('base64url')

function placeOf(token: string): { readonly tenant: string; readonly id: string } | null {
  if (token.length > MAX_TOKEN_CHARACTERS || !/^[\w-]+$/.test(token)) return null
  try {
    const [tenant, id] = JSON.parse(Buffer.from(token, 'base64url').toString()) as readonly unknown[]
    return typeof tenant === 'string' && typeof id === 'string' ? { tenant, id } : null
  } catch {
    return null
  }
}

export const shareMissing = (): ServiceError =>
  new ServiceError('share_not_found', 'This link does not exist, has expired or was revoked. Ask the person who sent it for a new one.')

/** Makes a link that shows the conversation as it is now. Only a hash of the token is stored. */
export async function createShare(
  { table, clock }: ShareDeps,
  row: Conversation,
  days: number,
): Promise<{ readonly share: ConversationShare; readonly token: string }> {
  const now = clock.now()
  const token = newToken(row)
  const share: ConversationShare = { id: newId('share'), tokenHash: hashOf(token), createdAt: now, expiresAt: now + days * DAY_MS }
  const added = await table.conversations.addShare(row.tenant, row.id, { share, now })
  if (added === 'missing') throw new ServiceError('conversation_not_found', 'This conversation was deleted meanwhile.')
  if (added === 'full')
    throw new ServiceError(
      'limit_exceeded',
      `This conversation has ${LIMITS.maxSharesPerConversation} links, the maximum. Revoke one, or use one that exists.`,
    )
  return { share, token }
}

/** The conversation of a link. Throws ServiceError `share_not_found`, and `rate_limit_exceeded` when the links of the tenant are read too often. */
export async function openShare({ table, clock }: ShareDeps, token: string): Promise<SharedConversation> {
  const place = placeOf(token)
  const row = place === null ? null : await table.conversations.get(place.tenant, place.id)
  const hash = hashOf(token)
  const now = clock.now()
  const share = row?.shares?.find(({ tokenHash, expiresAt }) => tokenHash === hash && expiresAt > now)
  if (row === null || row.deletedAt !== null || share === undefined) throw shareMissing()
  // Readers without a key do not use up the requests of the tenant itself.
  const window = Math.floor(now / MINUTE_MS)
  const value = LIMITS.maxSharedReadsPerMinute
  if (!(await table.sharedRows.count(row.tenant, 'shared-reads', { window, max: value }))) {
    const retryAfterSeconds = Math.ceil(((window + 1) * MINUTE_MS - now) / 1000)
    throw new ServiceError(
      'rate_limit_exceeded',
      `The links of this account are read more than ${value} times a minute. Wait ${retryAfterSeconds} s.`,
      {
        limit: { name: 'shared_reads_per_minute', value, retryAfterSeconds },
      },
    )
  }
  return { row, share }
}

/** What was added after the link was made is not shown. */
export const isShared = ({ share }: SharedConversation, { position }: Pick<ConversationItem, 'position'>): boolean =>
  positionTime(position) <= share.createdAt
