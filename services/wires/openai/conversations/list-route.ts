import { defineRoute } from '../../../http/route.ts'
import { json } from '../../../http/responses.ts'
import { listOf, listSchema, pageOf } from '../../../http/schemas.ts'
import { listConversations } from '../../../operations/conversations/list-conversations.ts'
import { Conversation, ConversationListQuery, renderConversation } from './schema.ts'

/** OpenAI has no list of conversations; this one has the form of its other lists. */
export const listConversationsRoute = defineRoute({
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
    const { rows, hasMore } = await listConversations(deps, caller, { filter, page: pageOf(query) })
    return json(200, listOf(rows.map(renderConversation), hasMore))
  },
})
