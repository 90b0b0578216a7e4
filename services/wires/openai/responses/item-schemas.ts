import * as z from 'zod'
import { ITEM_TYPES } from '../../../model/responses/items/item-types.ts'
import { answerSchema } from '../../../model/lazy-schema.ts'

/** An item of an answer; `type` says which fields it has. */
export const OutputItem = answerSchema(() =>
  z
    .union(
      ITEM_TYPES.map(({ type, wireFields }) =>
        z.looseObject({ id: z.string(), type: z.literal(type), status: z.string(), ...wireFields() }),
      ),
    )
    .openapi('OutputItem'),
)

/** Items that only clients send. */
const SENT_ITEMS = ['function_call_output', 'apply_patch_call_output', 'compaction', 'item_reference', 'mcp_list_tools'] as const

/** An item of a history. Calls and results of clients may have any fields. */
export const HistoryItem = answerSchema(() => {
  const part = z.looseObject({ type: z.string(), text: z.string().optional() })
  const others = [...ITEM_TYPES.map(({ type }) => type).filter((type) => type !== 'message'), ...SENT_ITEMS]
  return z
    .union([
      z.looseObject({ id: z.string(), type: z.literal('message'), role: z.string(), content: z.array(part) }),
      z.looseObject({ id: z.string(), type: z.enum(others) }),
    ])
    .openapi('HistoryItem', { description: 'A message, a call or a result, as in the input and output of a response.' })
})
