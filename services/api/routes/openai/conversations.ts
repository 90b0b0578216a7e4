import type { Conversation as ConversationRow } from '../../../core/conversations/conversation.ts'
import { newId } from '../../../core/ids.ts'
import { LIMITS } from '../../../core/limits.ts'
import { conversationOf } from '../../access.ts'
import { addItems } from '../../conversations/add-items.ts'
import { json } from '../../http/json-response.ts'
import { parseJson } from '../../http/parse-json.ts'
import { readBody, refuseEncoded } from '../../http/read-body.ts'
import { defineRoute } from '../../http/route.ts'
import { validate } from '../../http/validate.ts'
import { Conversation, CreateConversation, renderConversation, UpdateConversation } from '../../wire/conversation.ts'
import { deletedSchema } from '../../wire/list.ts'

/** A turn that was running when its conversation was deleted has ended by then. */
const SWEEP_AFTER_MS = (LIMITS.maxResponseSeconds + 60) * 1000

export const createConversationRoute = defineRoute({
  method: 'post',
  path: '/v1/conversations',
  operationId: 'createConversation',
  tag: 'Conversations',
  summary: 'Create a conversation',
  description: 'A body that is left out means an empty conversation.',
  streamed: { contentType: 'application/json', schema: CreateConversation, description: 'Items to begin with, and metadata.' },
  answers: { 200: { description: 'The conversation.', schema: Conversation } },
  async handle({ deps, caller, request, note }) {
    refuseEncoded(request)
    const bytes = await readBody(request, LIMITS.maxJsonBytes)
    const body = bytes.byteLength === 0 ? {} : validate(CreateConversation, parseJson(bytes), 'body')
    const row: ConversationRow = {
      v: 1,
      tenant: caller.tenant,
      subject: caller.subject,
      id: newId('conversation'),
      metadata: body.metadata ?? {},
      createdAt: deps.clock.now(),
      queue: [],
      containerId: null,
      deletedAt: null,
      dueAt: null,
    }
    await deps.table.conversations.create(row)
    await addItems(deps, row, body.items ?? [])
    note('conversation_id', row.id)
    return json(200, renderConversation(row))
  },
})

export const getConversationRoute = defineRoute({
  method: 'get',
  path: '/v1/conversations/{conversation_id}',
  operationId: 'getConversation',
  tag: 'Conversations',
  summary: 'Get a conversation',
  answers: { 200: { description: 'The conversation.', schema: Conversation } },
  refusals: ['conversation_not_found'],
  async handle(call) {
    return json(200, renderConversation(await conversationOf(call, call.param('conversation_id'))))
  },
})

export const updateConversationRoute = defineRoute({
  method: 'post',
  path: '/v1/conversations/{conversation_id}',
  operationId: 'updateConversation',
  tag: 'Conversations',
  summary: 'Replace the metadata of a conversation',
  body: UpdateConversation,
  answers: { 200: { description: 'The conversation.', schema: Conversation } },
  refusals: ['conversation_not_found'],
  async handle(call) {
    const { deps, caller, body } = call
    const found = await conversationOf(call, call.param('conversation_id'))
    const row = await deps.table.conversations.setMetadata(caller.tenant, found.id, body.metadata ?? {})
    return json(200, renderConversation(row ?? (await conversationOf(call, found.id))))
  },
})

export const deleteConversationRoute = defineRoute({
  method: 'delete',
  path: '/v1/conversations/{conversation_id}',
  operationId: 'deleteConversation',
  tag: 'Conversations',
  summary: 'Delete a conversation',
  description: 'Its items go with it. Responses and containers stay.',
  answers: { 200: { description: 'It is gone.', schema: deletedSchema('conversation.deleted') } },
  refusals: ['conversation_not_found'],
  async handle(call) {
    const { deps } = call
    const { tenant, id } = await conversationOf(call, call.param('conversation_id'))
    const now = deps.clock.now()
    await deps.table.conversations.markDeleted(tenant, id, now, now + SWEEP_AFTER_MS)
    await deps.table.conversations.removeItems(tenant, id)
    return json(200, { id, object: 'conversation.deleted', deleted: true })
  },
})
