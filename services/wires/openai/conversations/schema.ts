import * as z from 'zod'
import { boundedList } from '../../../model/bounded-schemas.ts'
import { answerSchema, lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { ListQuery, Metadata } from '../../../http/schemas.ts'
import { InputItem } from '../responses/schema.ts'
import type { Conversation as ConversationRow, ConversationItem as ItemRow } from '../../../model/conversations/conversation.ts'
import { LIMITS } from '../../../model/limits.ts'
import { renderItem } from '../../../model/responses/items/item-types.ts'

const items = (min: number) => boundedList(InputItem(), { min, max: LIMITS.maxItemsPerCall })

export const CreateConversation = lazySchema(() =>
  z.object({ items: items(0).nullish(), metadata: Metadata().nullish() }).openapi('CreateConversation'),
)
export const UpdateConversation = lazySchema(() => z.object({ metadata: Metadata().nullable() }).openapi('UpdateConversation'))
export const CreateItems = lazySchema(() => z.object({ items: items(1) }).openapi('CreateConversationItems'))

const include = lazySchema(() =>
  z
    .union([z.string().transform((name) => [name]), boundedList(z.string(), { max: 32 })])
    .optional()
    .openapi({ type: 'array', items: { type: 'string' }, description: 'Same effect as `include[]=code_interpreter_call.outputs`.' }),
)
export const ItemQuery = lazySchema(() => z.object({ include: include() }))
export const ItemListQuery = lazySchema(() => ListQuery().extend({ include: include() }))

export const Conversation = answerSchema(() =>
  z
    .object({
      id: z.string().openapi({ example: 'conv_01kajv9h2s8p0ww3d4dq4cs1zt' }),
      object: z.literal('conversation'),
      created_at: z.int(),
      metadata: z.record(z.string(), z.string()),
    })
    .openapi('Conversation'),
)

export const ConversationItem = answerSchema(() =>
  z
    .looseObject({ id: z.string(), type: z.string() })
    .openapi('ConversationItem', { description: 'A message, a call or a result, as in the input and output of a response.' }),
)

export const renderConversation = (row: ConversationRow): Described<typeof Conversation> => ({
  id: row.id,
  object: 'conversation',
  created_at: Math.floor(row.createdAt / 1000),
  metadata: { ...row.metadata },
})

export const renderConversationItem = ({ content }: ItemRow, include: readonly string[]): Readonly<Record<string, unknown>> =>
  content.kind === 'wire' ? content.item : renderItem(content.item, { include })
