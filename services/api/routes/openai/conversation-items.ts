import type { ConversationItem as ItemRow } from '../../../core/conversations/conversation.ts'
import { ServiceError } from '../../../core/errors.ts'
import { conversationOf } from '../../access.ts'
import { addItems } from '../../conversations/add-items.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute, type Call } from '../../http/route.ts'
import {
  Conversation,
  ConversationItem,
  CreateItems,
  ItemListQuery,
  ItemQuery,
  renderConversation,
  renderConversationItem,
} from '../../wire/conversation.ts'
import { listOf, listSchema, pageOf } from '../../wire/list.ts'

const ItemList = listSchema(ConversationItem, 'ConversationItemList')

/** Throws ServiceError `conversation_not_found` or `item_not_found`. */
async function itemOf(call: Pick<Call, 'deps' | 'caller' | 'param'>): Promise<ItemRow> {
  const conversation = await conversationOf(call, call.param('conversation_id'))
  const id = call.param('item_id')
  const item = await call.deps.table.conversations.findItem(conversation.tenant, conversation.id, id)
  if (item === null)
    throw new ServiceError(
      'item_not_found',
      `No item ${JSON.stringify(id.slice(0, 80))} exists. List a conversation's items with GET /v1/conversations/{conversation_id}/items.`,
    )
  return item
}

export const createConversationItemsRoute = defineRoute({
  method: 'post',
  path: '/v1/conversations/{conversation_id}/items',
  operationId: 'createConversationItems',
  tag: 'Conversations',
  summary: 'Add items to a conversation',
  query: ItemQuery,
  body: CreateItems,
  answers: { 200: { description: 'The items, with their ids.', schema: ItemList } },
  refusals: ['conversation_not_found'],
  async handle(call) {
    const conversation = await conversationOf(call, call.param('conversation_id'))
    const items = await addItems(call.deps, conversation, call.body.items)
    return json(
      200,
      listOf(
        items.map((item) => renderConversationItem(item, call.query.include ?? [])),
        false,
      ),
    )
  },
})

export const listConversationItemsRoute = defineRoute({
  method: 'get',
  path: '/v1/conversations/{conversation_id}/items',
  operationId: 'listConversationItems',
  tag: 'Conversations',
  summary: 'List the items of a conversation',
  query: ItemListQuery,
  answers: { 200: { description: 'A page of items.', schema: ItemList } },
  refusals: ['conversation_not_found'],
  async handle(call) {
    const { conversations } = call.deps.table
    const { tenant, id } = await conversationOf(call, call.param('conversation_id'))
    const { after, ...page } = pageOf(call.query)
    const edge = after === null ? null : await conversations.findItem(tenant, id, after)
    // An unknown cursor gives an empty page, as in every other list.
    if (after !== null && edge === null) return json(200, listOf([], false))
    const { rows, hasMore } = await conversations.items(tenant, id, { ...page, after: edge?.position ?? null })
    return json(
      200,
      listOf(
        rows.map((item) => renderConversationItem(item, call.query.include ?? [])),
        hasMore,
      ),
    )
  },
})

export const getConversationItemRoute = defineRoute({
  method: 'get',
  path: '/v1/conversations/{conversation_id}/items/{item_id}',
  operationId: 'getConversationItem',
  tag: 'Conversations',
  summary: 'Get an item of a conversation',
  query: ItemQuery,
  answers: { 200: { description: 'The item.', schema: ConversationItem } },
  refusals: ['conversation_not_found', 'item_not_found'],
  async handle(call) {
    return json(200, renderConversationItem(await itemOf(call), call.query.include ?? []))
  },
})

export const deleteConversationItemRoute = defineRoute({
  method: 'delete',
  path: '/v1/conversations/{conversation_id}/items/{item_id}',
  operationId: 'deleteConversationItem',
  tag: 'Conversations',
  summary: 'Delete an item of a conversation',
  description: 'Later turns do not read it any more.',
  answers: { 200: { description: 'The conversation.', schema: Conversation } },
  refusals: ['conversation_not_found', 'item_not_found'],
  async handle(call) {
    await call.deps.table.conversations.removeItem(await itemOf(call))
    return json(200, renderConversation(await conversationOf(call, call.param('conversation_id'))))
  },
})
