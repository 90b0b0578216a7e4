import * as z from 'zod'
import { boundedList } from '../../../model/bounded-schemas.ts'
import { answerSchema, lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { ListQuery, Metadata, wholeCharacters } from '../../../http/schemas.ts'
import { InputItem } from '../responses/schema.ts'
import type { Conversation as ConversationRow, ConversationItem as ItemRow } from '../../../model/conversations/conversation.ts'
import { LIMITS } from '../../../model/limits.ts'
import { renderItem } from '../../../model/responses/items/item-types.ts'

const items = (min: number) => boundedList(InputItem(), { min, max: LIMITS.maxItemsPerCall })

const Title = lazySchema(() =>
  z
    .string()
    .trim()
    .min(1, 'give a title')
    .max(200)
    .refine(...wholeCharacters),
)
const ContainerId = lazySchema(() => z.string().max(200))

export const CreateConversation = lazySchema(() =>
  z
    .object({
      items: items(0).nullish(),
      metadata: Metadata().nullish(),
      x_cellblock: z
        .strictObject({ title: Title().optional(), container_id: ContainerId().optional() })
        .optional()
        .openapi({ description: 'A title, and the container that `auto` selects.' }),
    })
    .openapi('CreateConversation'),
)
export const UpdateConversation = lazySchema(() =>
  z
    .object({
      metadata: Metadata().nullish(),
      x_cellblock: z
        .strictObject({ title: Title().nullable(), archived: z.boolean(), container_id: ContainerId().nullable() })
        .partial()
        .optional()
        .openapi({ description: 'The title, whether the conversation is archived, and the container that `auto` selects.' }),
    })
    .refine((body) => body.metadata !== undefined || body.x_cellblock !== undefined, 'give metadata or x_cellblock')
    .openapi('UpdateConversation'),
)
export const ConversationListQuery = lazySchema(() =>
  ListQuery().extend({
    order: z.enum(['asc', 'desc']).optional().openapi({ description: 'Order by the last activity; `desc` by default.' }),
    q: z
      .string()
      .max(200)
      .optional()
      .openapi({
        description: `Only titles that contain this text. The latest ${LIMITS.maxSearchedConversations} conversations are searched.`,
      }),
    search_in: z
      .enum(['titles', 'messages'])
      .optional()
      .openapi({
        description: `Where \`q\` is searched, \`titles\` by default. \`messages\`: in the latest ${LIMITS.textSearchItems} messages and cells of the latest ${LIMITS.textSearchConversations} conversations, in one page.`,
      }),
    titled: z.enum(['true', 'false']).optional().openapi({ description: '`true`: only conversations with a title.' }),
    archived: z.enum(['true', 'false']).optional().openapi({ description: '`true`: the archived ones; `false`, the default: the others.' }),
  }),
)
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
      x_cellblock: z.object({
        title: z.string().nullable(),
        archived: z.boolean(),
        updated_at: z.int(),
        container_id: z.string().nullable().openapi({ description: 'Where its code ran last. It may be deleted.' }),
        running: z.array(z.string()).openapi({ description: 'Responses that have not ended, in their order.' }),
        unfinished: z
          .array(z.string())
          .openapi({ description: 'The latest responses that failed or were stopped. Those without output added no items.' }),
      }),
    })
    .openapi('Conversation'),
)

export const renderConversation = (row: ConversationRow): Described<typeof Conversation> => ({
  id: row.id,
  object: 'conversation',
  created_at: Math.floor(row.createdAt / 1000),
  metadata: { ...row.metadata },
  x_cellblock: {
    title: row.title,
    archived: row.archivedAt !== null,
    updated_at: Math.floor((row.activeAt ?? row.createdAt) / 1000),
    container_id: row.containerId,
    running: [...row.queue],
    unfinished: [...(row.unfinished ?? [])],
  },
})

export const renderConversationItem = ({ content }: ItemRow, include: readonly string[]): Readonly<Record<string, unknown>> =>
  content.kind === 'wire' ? content.item : renderItem(content.item, { include })
