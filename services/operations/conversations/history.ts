import { isVisible } from '../access.ts'
import type { Table } from '../../ports/table.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { inputItemId, wireItems } from '../../model/responses/input-items.ts'
import { loadResponse } from '../turns/response-blobs.ts'
import type { ResponseRecord as ResponseRow } from '../../model/responses/response.ts'
import type { Caller } from '../../model/tenants/tenant.ts'
import { renderItem } from '../../model/responses/items/item-types.ts'
import { itemPosition, type Conversation, type ConversationItem } from '../../model/conversations/conversation.ts'
import { derivedId, newId } from '../../model/ids.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClaimedId } from '../claimed-id.ts'

type Wire = Readonly<Record<string, unknown>>

/** Maximum number of items and turns that are read, newest first. */
const MAX_ITEMS = 2_000
const MAX_TURNS = 200
const ITEMS_PER_READ = 100
const WHOLE = { include: ['code_interpreter_call.outputs'] }

export interface History {
  /** Wire items, the oldest first. */
  readonly items: readonly Wire[]
  /** False: older ones are omitted. */
  readonly isWhole: boolean
}

/** The messages and calls of a conversation. */
export async function conversationHistory(
  deps: { readonly table: Pick<Table, 'conversations'> },
  tenant: string,
  conversationId: string,
): Promise<History> {
  const newest: Wire[] = []
  for (let after: string | null = null; ;) {
    const page = await deps.table.conversations.items(tenant, conversationId, { after, limit: ITEMS_PER_READ, order: 'desc' })
    newest.push(...page.rows.map(({ content }) => (content.kind === 'wire' ? content.item : renderItem(content.item, WHOLE))))
    after = page.rows.at(-1)?.position ?? null
    if (!page.hasMore || after === null) return { items: newest.toReversed(), isWhole: true }
    if (newest.length >= MAX_ITEMS) return { items: newest.toReversed(), isWhole: false }
  }
}

/** The messages and calls up to a response, along the chain of `previous_response_id`. */
export async function historyUpTo(
  deps: { readonly table: Pick<Table, 'responses'>; readonly objects: ObjectStore },
  caller: Caller,
  last: ResponseRow,
): Promise<History> {
  const turns: Wire[][] = []
  let row: ResponseRow | null = last
  while (row !== null && turns.length < MAX_TURNS) {
    const { id, request, items, previousResponseId } = await loadResponse(deps.objects, row)
    const input = wireItems(request.input, (type, index, given) => given ?? inputItemId(id, type, index))
    turns.unshift([...input, ...items.map((item) => renderItem(item, WHOLE))])
    const before: ResponseRow | null =
      previousResponseId === null ? null : await deps.table.responses.get(caller.tenant, previousResponseId)
    row = before !== null && isVisible(before, caller) ? before : null
  }
  return { items: turns.flat(), isWhole: row === null }
}

/**
 * Adds the client's items; an item that occurs twice is added twice. Ids and positions follow from the claim, so a repeated call with the same claim
 * changes nothing.
 */
export async function addItems(
  deps: { readonly table: Pick<Table, 'conversations'>; readonly clock: Clock },
  { tenant, id: conversationId }: Conversation,
  { given, claimed }: { readonly given: readonly Wire[]; readonly claimed?: Omit<ClaimedId, 'isReplay'> },
): Promise<readonly ConversationItem[]> {
  const { id: owner, at } = claimed ?? { id: newId('item'), at: deps.clock.now() }
  const items = wireItems(given, (type, index) => derivedId(type === 'message' ? 'message' : 'item', at, `${owner}#${index}`)).map(
    (item, index): ConversationItem => ({
      v: 1,
      tenant,
      conversationId,
      id: item.id,
      position: itemPosition(at, owner, index),
      responseId: null,
      content: { kind: 'wire', item },
    }),
  )
  await deps.table.conversations.putItems(items)
  return items
}
