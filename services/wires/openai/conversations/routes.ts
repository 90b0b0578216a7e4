import type { Scope } from '../../../model/tenants/tenant.ts'
import { conversationOf } from '../../../operations/access.ts'
import { addItems } from '../../../operations/conversations/history.ts'
import { claimId } from '../../../http/claim-id.ts'
import { parseJson } from '../../../http/parse-json.ts'
import { readBody, refuseEncoded } from '../../../http/read-body.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type Call, type AnyRoute } from '../../../http/route.ts'
import { deletedSchema, listOf, listSchema, pageOf } from '../../../http/schemas.ts'
import { validate } from '../../../http/validate.ts'
import { refusePrivateImages } from '../../../operations/turns/image-urls.ts'
import {
  Conversation,
  CreateConversation,
  renderConversation,
  UpdateConversation,
  CreateItems,
  ItemListQuery,
  ItemQuery,
  renderConversationItem,
  ConversationListQuery,
} from './schema.ts'
import type {
  Conversation as ConversationRow,
  ConversationChange,
  ConversationItem as ItemRow,
} from '../../../model/conversations/conversation.ts'
import type { Described } from '../../../model/lazy-schema.ts'
import { HistoryItem } from '../responses/item-schemas.ts'
import { ServiceError } from '../../../model/errors.ts'
import { firstRetentionCheck } from '../../../model/tenants/retention.ts'
import { LIMITS } from '../../../model/limits.ts'
import { searchMessages } from '../../../operations/conversations/search-messages.ts'
import { listConversations } from '../../../operations/conversations/list-conversations.ts'

/** OpenAI has no list of conversations; this one has the form of its other lists. */
const listConversationsRoute = defineRoute({
  method: 'get',
  path: '/v1/conversations',
  auth: 'session',
  scope: 'read',
  operationId: 'listConversations',
  tag: 'Conversations',
  summary: 'List or search conversations',
  description: "An extension of OpenAI's API. The conversations that this key may see, the latest active first.",
  query: ConversationListQuery,
  answers: { 200: { description: 'A page of conversations.', schema: listSchema(Conversation, 'ConversationList') } },
  async handle({ deps, caller, query }) {
    const filter = { search: query.q ?? '', isArchived: query.archived === 'true', needsTitle: query.titled === 'true' }
    if (query.search_in === 'messages' && filter.search.trim() !== '') {
      const found = await searchMessages(deps, caller, { filter, limit: pageOf(query).limit })
      return json(200, listOf(found.map(renderConversation), false))
    }
    const { rows, hasMore } = await listConversations(deps, caller, { filter, page: pageOf(query) })
    return json(200, listOf(rows.map(renderConversation), hasMore))
  },
})

/** Delay of the removal of a deleted conversation, milliseconds. A turn that was running has ended by then. */
const SWEEP_AFTER_MS = (LIMITS.maxResponseSeconds + 60) * 1000

const createConversationRoute = defineRoute({
  method: 'post',
  path: '/v1/conversations',
  auth: 'session',
  scope: 'run',
  operationId: 'createConversation',
  tag: 'Conversations',
  summary: 'Create a conversation',
  description: 'Without a body the conversation is empty.',
  streamed: {
    contentType: 'application/json',
    schema: () => CreateConversation(),
    description: 'Items to begin with, and metadata.',
    isOptional: true,
  },
  answers: { 200: { description: 'The conversation.', schema: Conversation } },
  creates: 'conversation',
  async handle(call) {
    const { deps, caller, request, note } = call
    refuseEncoded(request)
    const bytes = await readBody(request, LIMITS.maxJsonBytes)
    const body = bytes.byteLength === 0 ? {} : validate(CreateConversation(), parseJson(bytes), 'body')
    refusePrivateImages(body.items ?? [], 'items')
    const claimed = await claimId(call, 'conversation', { body: bytes })
    const earlier = claimed.isReplay ? await deps.table.conversations.get(caller.tenant, claimed.id) : null
    if (earlier !== null) return json(200, renderConversation(earlier), { 'idempotent-replayed': 'true' })
    const row: ConversationRow = {
      v: 1,
      tenant: caller.tenant,
      subject: caller.subject,
      id: claimed.id,
      metadata: body.metadata ?? {},
      createdAt: deps.clock.now(),
      title: body.x_cellblock?.title ?? null,
      archivedAt: null,
      queue: [],
      containerId: body.x_cellblock?.container_id ?? null,
      deletedAt: null,
      dueAt: firstRetentionCheck(deps.clock.now()),
    }
    // The row comes last: a repeated call that finds it answers at once, so everything else must be stored by then.
    await addItems(deps, row, { given: body.items ?? [], claimed })
    await deps.table.conversations.create(row)
    note('conversation_id', row.id)
    return json(200, renderConversation(row))
  },
})

const getConversationRoute = defineRoute({
  method: 'get',
  path: '/v1/conversations/{conversation_id}',
  auth: 'session',
  scope: 'read',
  operationId: 'getConversation',
  tag: 'Conversations',
  summary: 'Get a conversation',
  answers: { 200: { description: 'The conversation.', schema: Conversation } },
  errors: ['conversation_not_found'],
  async handle(call) {
    return json(200, renderConversation(await conversationOf(call, call.param('conversation_id'), 'read')))
  },
})

const updateConversationRoute = defineRoute({
  method: 'post',
  path: '/v1/conversations/{conversation_id}',
  auth: 'session',
  scope: 'run',
  operationId: 'updateConversation',
  tag: 'Conversations',
  summary: 'Update a conversation',
  description: 'Replaces the metadata, and the fields of `x_cellblock` that the request has. What it leaves out stays.',
  body: UpdateConversation,
  answers: { 200: { description: 'The conversation.', schema: Conversation } },
  errors: ['conversation_not_found'],
  async handle(call) {
    const { deps, caller, body } = call
    const found = await conversationOf(call, call.param('conversation_id'), 'run')
    const now = deps.clock.now()
    const row = await deps.table.conversations.update(caller.tenant, found.id, { change: changeOf(body, now), now })
    return json(200, renderConversation(row ?? (await conversationOf(call, found.id, 'run'))))
  },
})

/** OpenAI's clients send `metadata` always, and null removes it. */
function changeOf({ metadata, x_cellblock: fields }: Described<typeof UpdateConversation>, now: number): ConversationChange {
  return {
    ...(metadata !== undefined && { metadata: metadata ?? {} }),
    ...(fields?.title !== undefined && { title: fields.title }),
    ...(fields?.archived !== undefined && { archivedAt: fields.archived ? now : null }),
    ...(fields?.container_id !== undefined && { containerId: fields.container_id }),
  }
}

const deleteConversationRoute = defineRoute({
  method: 'delete',
  path: '/v1/conversations/{conversation_id}',
  auth: 'session',
  scope: 'run',
  operationId: 'deleteConversation',
  tag: 'Conversations',
  summary: 'Delete a conversation',
  description: 'Its items are deleted too. Responses and containers remain.',
  answers: { 200: { description: 'The conversation is deleted.', schema: deletedSchema('conversation.deleted') } },
  errors: ['conversation_not_found'],
  async handle(call) {
    const { deps } = call
    const { tenant, id } = await conversationOf(call, call.param('conversation_id'), 'run')
    const now = deps.clock.now()
    await deps.table.conversations.markDeleted(tenant, id, { now, dueAt: now + SWEEP_AFTER_MS })
    await deps.table.conversations.removeItems(tenant, id)
    return json(200, { id, object: 'conversation.deleted', deleted: true })
  },
})

const ItemList = listSchema(HistoryItem, 'ConversationItemList')

/** Throws ServiceError `conversation_not_found` or `item_not_found`. */
async function itemOf(call: Pick<Call, 'deps' | 'caller' | 'param'>, scope: Scope): Promise<ItemRow> {
  const conversation = await conversationOf(call, call.param('conversation_id'), scope)
  const id = call.param('item_id')
  const item = await call.deps.table.conversations.findItem(conversation.tenant, conversation.id, id)
  if (item === null)
    throw new ServiceError(
      'item_not_found',
      `No item ${JSON.stringify(id.slice(0, 80))} exists. List a conversation's items with GET /v1/conversations/{conversation_id}/items.`,
    )
  return item
}

const createConversationItemsRoute = defineRoute({
  method: 'post',
  path: '/v1/conversations/{conversation_id}/items',
  auth: 'session',
  scope: 'run',
  operationId: 'createConversationItems',
  tag: 'Conversations',
  summary: 'Add items to a conversation',
  query: ItemQuery,
  body: CreateItems,
  creates: 'item',
  answers: { 200: { description: 'The items, with their ids.', schema: ItemList } },
  errors: ['conversation_not_found'],
  async handle(call) {
    const conversation = await conversationOf(call, call.param('conversation_id'), 'run')
    refusePrivateImages(call.body.items, 'items')
    const items = await addItems(call.deps, conversation, {
      given: call.body.items,
      claimed: await claimId(call, 'item', { body: call.rawBody }),
    })
    await call.deps.table.conversations.update(conversation.tenant, conversation.id, { change: {}, now: call.deps.clock.now() })
    return json(
      200,
      listOf(
        items.map((item) => renderConversationItem(item, call.query.include ?? [])),
        false,
      ),
    )
  },
})

const listConversationItemsRoute = defineRoute({
  method: 'get',
  path: '/v1/conversations/{conversation_id}/items',
  auth: 'session',
  scope: 'read',
  operationId: 'listConversationItems',
  tag: 'Conversations',
  summary: 'List the items of a conversation',
  query: ItemListQuery,
  answers: { 200: { description: 'A page of items.', schema: ItemList } },
  errors: ['conversation_not_found'],
  async handle(call) {
    const { conversations } = call.deps.table
    const { tenant, id } = await conversationOf(call, call.param('conversation_id'), 'read')
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

const getConversationItemRoute = defineRoute({
  method: 'get',
  path: '/v1/conversations/{conversation_id}/items/{item_id}',
  auth: 'session',
  scope: 'read',
  operationId: 'getConversationItem',
  tag: 'Conversations',
  summary: 'Get an item of a conversation',
  query: ItemQuery,
  answers: { 200: { description: 'The item.', schema: HistoryItem } },
  errors: ['conversation_not_found', 'item_not_found'],
  async handle(call) {
    return json(200, renderConversationItem(await itemOf(call, 'read'), call.query.include ?? []))
  },
})

const deleteConversationItemRoute = defineRoute({
  method: 'delete',
  path: '/v1/conversations/{conversation_id}/items/{item_id}',
  auth: 'session',
  scope: 'run',
  operationId: 'deleteConversationItem',
  tag: 'Conversations',
  summary: 'Delete an item of a conversation',
  description: 'Later turns no longer read the item.',
  answers: { 200: { description: 'The conversation.', schema: Conversation } },
  errors: ['conversation_not_found', 'item_not_found'],
  async handle(call) {
    await call.deps.table.conversations.removeItem(await itemOf(call, 'run'))
    return json(200, renderConversation(await conversationOf(call, call.param('conversation_id'), 'run')))
  },
})

export const conversationRoutes: readonly AnyRoute[] = [
  listConversationsRoute,
  createConversationItemsRoute,
  deleteConversationItemRoute,
  getConversationItemRoute,
  listConversationItemsRoute,
  createConversationRoute,
  deleteConversationRoute,
  getConversationRoute,
  updateConversationRoute,
]
