import type { Conversation } from '../../model/conversations/conversation.ts'
import { LIMITS } from '../../model/limits.ts'
import type { Page, PageRequest } from '../../model/page.ts'
import type { Caller } from '../../model/tenants/tenant.ts'
import type { Table } from '../../ports/table.ts'
import { visibleTo } from '../access.ts'

/** Rows that are read at once while most of them are left out. */
const ROWS_PER_READ = 100

export interface ConversationFilter {
  /** Empty: every title. */
  readonly search: string
  readonly isArchived: boolean
  readonly needsTitle: boolean
}

/**
 * A page of the conversations that the caller may see, by their last activity. One call reads at most LIMITS.maxSearchedConversations rows: what lies
 * beyond them is not found. Throws ServiceError `insufficient_scope`.
 */
export async function listConversations(
  deps: { readonly table: Pick<Table, 'conversations'> },
  caller: Caller,
  { filter, page }: { readonly filter: ConversationFilter; readonly page: PageRequest },
): Promise<Page<Conversation>> {
  const isVisible = visibleTo(caller, 'read')
  const search = filter.search.trim().toLowerCase()
  const isWanted = (row: Conversation): boolean =>
    isVisible(row) &&
    (row.archivedAt !== null) === filter.isArchived &&
    (row.title !== null || !filter.needsTitle) &&
    (search === '' || (row.title ?? '').toLowerCase().includes(search))
  const found: Conversation[] = []
  let { after } = page
  for (let read = 0; read < LIMITS.maxSearchedConversations; read += ROWS_PER_READ) {
    const next = await deps.table.conversations.list(caller.tenant, { ...page, after, limit: ROWS_PER_READ })
    found.push(...next.rows.filter(isWanted))
    if (found.length > page.limit) break
    after = next.rows.at(-1)?.id ?? null
    if (!next.hasMore || after === null) break
  }
  return { rows: found.slice(0, page.limit), hasMore: found.length > page.limit }
}
