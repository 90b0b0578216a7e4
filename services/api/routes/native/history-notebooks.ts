import { z } from '@hono/zod-openapi'
import { conversationOf, responseOf } from '../../access.ts'
import { conversationHistory, historyUpTo } from '../../conversations/history-items.ts'
import { historyNotebook } from '../../conversations/history-notebook.ts'
import { notebookResponse } from '../../http/notebook-response.ts'
import { defineRoute } from '../../http/route.ts'

const answers = {
  200: {
    description:
      'nbformat 4.5: what was said as markdown, each call of the interpreter as the cell that ran. The first cell says when older turns are left out.',
    contentType: 'application/x-ipynb+json',
    schema: z.looseObject({}),
  },
}

export const conversationNotebookRoute = defineRoute({
  method: 'get',
  path: '/v1/conversations/{conversation_id}/notebook.ipynb',
  operationId: 'getConversationNotebook',
  tag: 'Conversations',
  summary: 'Download a conversation as an executed notebook',
  answers,
  refusals: ['conversation_not_found'],
  async handle(call) {
    const { id, tenant } = await conversationOf(call, call.param('conversation_id'))
    return notebookResponse(await historyNotebook(call.deps, call.caller, await conversationHistory(call.deps, tenant, id)), `${id}.ipynb`)
  },
})

export const responseNotebookRoute = defineRoute({
  method: 'get',
  path: '/v1/responses/{response_id}/notebook.ipynb',
  operationId: 'getResponseNotebook',
  tag: 'Responses',
  summary: 'Download a response, with the turns before it, as an executed notebook',
  description: 'For a response of a conversation: the whole conversation.',
  answers,
  refusals: ['response_not_found'],
  async handle(call) {
    const { deps, caller } = call
    const row = await responseOf(call, call.param('response_id'))
    const isOver =
      row.conversationId === null || (await deps.table.conversations.get(caller.tenant, row.conversationId))?.deletedAt !== null
    const told =
      isOver || row.conversationId === null ? historyUpTo(deps, caller, row) : conversationHistory(deps, caller.tenant, row.conversationId)
    return notebookResponse(await historyNotebook(deps, caller, await told), `${row.id}.ipynb`)
  },
})
