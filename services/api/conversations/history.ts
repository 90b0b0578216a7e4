import { isVisible } from '../access.ts'
import type { ApiDeps } from '../deps.ts'
import { wireItems } from '../../core/responses/input-items.ts'
import { renderItem } from '../../core/responses/render-response.ts'
import { loadResponse } from '../../core/responses/response-blobs.ts'
import type { ResponseRecord as ResponseRow } from '../../core/responses/response.ts'
import type { Caller } from '../../core/tenants/tenant.ts'

type Wire = Readonly<Record<string, unknown>>

/** Items and turns that are looked back over, the newest ones. */
const MAX_ITEMS = 2_000
const MAX_TURNS = 200
const ITEMS_PER_READ = 100
const WHOLE = { include: ['code_interpreter_call.outputs'] }

export interface History {
  /** Wire items, the oldest first. */
  readonly items: readonly Wire[]
  /** False: older ones were left out. */
  readonly isWhole: boolean
}

/** What was asked and answered in a conversation. */
export async function conversationHistory(deps: Pick<ApiDeps, 'table'>, tenant: string, conversationId: string): Promise<History> {
  const newest: Wire[] = []
  for (let after: string | null = null; ;) {
    const page = await deps.table.conversations.items(tenant, conversationId, { after, limit: ITEMS_PER_READ, order: 'desc' })
    newest.push(...page.rows.map(({ content }) => (content.kind === 'wire' ? content.item : renderItem(content.item, WHOLE))))
    after = page.rows.at(-1)?.position ?? null
    if (!page.hasMore || after === null) return { items: newest.toReversed(), isWhole: true }
    if (newest.length >= MAX_ITEMS) return { items: newest.toReversed(), isWhole: false }
  }
}

/** What was asked and answered up to a response, by the chain of `previous_response_id`. */
export async function historyUpTo(deps: Pick<ApiDeps, 'table' | 'objects'>, caller: Caller, last: ResponseRow): Promise<History> {
  const turns: Wire[][] = []
  let row: ResponseRow | null = last
  while (row !== null && turns.length < MAX_TURNS) {
    const { request, items, previousResponseId } = await loadResponse(deps.objects, row)
    turns.unshift([...wireItems(request.input, () => ''), ...items.map((item) => renderItem(item, WHOLE))])
    const before: ResponseRow | null =
      previousResponseId === null ? null : await deps.table.responses.get(caller.tenant, previousResponseId)
    row = before !== null && isVisible(before, caller) ? before : null
  }
  return { items: turns.flat(), isWhole: row === null }
}
