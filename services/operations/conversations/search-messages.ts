import type { Conversation, ConversationItem } from '../../model/conversations/conversation.ts'
import { LIMITS } from '../../model/limits.ts'
import { renderItem } from '../../model/responses/items/item-types.ts'
import type { Caller } from '../../model/tenants/tenant.ts'
import type { Table } from '../../ports/table.ts'
import { listConversations, type ConversationFilter } from './list-conversations.ts'

type Wire = Readonly<Record<string, unknown>>

/** Few at once, because an item can be as large as a request. */
const ITEMS_PER_READ = 20

/**
 * The conversations that have the text in a message or in code, the latest active first. Only the latest items of the latest conversations are read,
 * because no store here has an index of texts; LIMITS has the numbers. Throws ServiceError `insufficient_scope`.
 */
export async function searchMessages(
  deps: { readonly table: Pick<Table, 'conversations'> },
  caller: Caller,
  { filter, limit }: { readonly filter: ConversationFilter; readonly limit: number },
): Promise<readonly Conversation[]> {
  const page = { after: null, limit: LIMITS.textSearchConversations, order: 'desc' as const }
  const { rows } = await listConversations(deps, caller, { filter: { ...filter, search: '' }, page })
  const search = filter.search.trim().toLowerCase()
  const budget = { bytes: LIMITS.textSearchBytes }
  const found: Conversation[] = []
  for (const row of rows) {
    if (found.length === limit || budget.bytes <= 0) break
    if (await hasText(deps, row, { search, budget })) found.push(row)
  }
  return found
}

async function hasText(
  { table }: { readonly table: Pick<Table, 'conversations'> },
  { tenant, id }: Conversation,
  { search, budget }: { readonly search: string; readonly budget: { bytes: number } },
): Promise<boolean> {
  let after: string | null = null
  for (let read = 0; read < LIMITS.textSearchItems && budget.bytes > 0; read += ITEMS_PER_READ) {
    const page = await table.conversations.items(tenant, id, { after, limit: ITEMS_PER_READ, order: 'desc' })
    for (const { content } of page.rows) budget.bytes -= JSON.stringify(content.item).length
    if (page.rows.some((item) => searchableText(item).toLowerCase().includes(search))) return true
    after = page.rows.at(-1)?.position ?? null
    if (!page.hasMore || after === null) return false
  }
  return false
}

/** What a person reads of an item: the text of messages, and code. */
function searchableText({ content }: ConversationItem): string {
  const item: Wire = content.kind === 'wire' ? content.item : renderItem(content.item, { include: [] })
  if (typeof item['code'] === 'string') return item['code']
  if (item['type'] !== 'message') return ''
  const parts = item['content']
  if (typeof parts === 'string') return parts
  return Array.isArray(parts) ? parts.map((part: Wire) => (typeof part['text'] === 'string' ? part['text'] : '')).join('\n') : ''
}
