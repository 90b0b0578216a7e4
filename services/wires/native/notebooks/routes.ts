import * as z from 'zod'
import { executionOf, containerOf, visibleTo, conversationOf, responseOf } from '../../../operations/access.ts'
import { historyNotebook } from '../../../operations/conversations/history-notebook.ts'
import { conversationHistory, historyUpTo } from '../../../operations/conversations/history.ts'
import {
  NOTEBOOK_INLINE_BYTES,
  notebookPart,
  containerParts,
  MAX_EXECUTIONS,
  MAX_NOTEBOOK_BYTES,
} from '../../../operations/executions/notebook-parts.ts'
import { storedBytes } from '../../../operations/executions/stored-bytes.ts'
import { notebookResponse } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { buildNotebook } from '../../../model/executions/notebook.ts'

const executionNotebookRoute = defineRoute({
  method: 'get',
  path: '/v1/executions/{execution_id}/notebook.ipynb',
  auth: 'session',
  scope: 'read',
  operationId: 'getExecutionNotebook',
  tag: 'Executions',
  summary: 'Download the executed notebook of an execution',
  answers: {
    200: { description: 'nbformat 4.5; opens in Jupyter.', contentType: 'application/x-ipynb+json', schema: () => z.looseObject({}) },
  },
  errors: ['execution_not_found', 'too_many_results'],
  async handle(call) {
    const row = await executionOf(call, call.param('execution_id'), 'read')
    return call.deps.results.hold(storedBytes(row) + NOTEBOOK_INLINE_BYTES, async () => {
      const part = await notebookPart(call.deps.objects, row, { bytes: NOTEBOOK_INLINE_BYTES })
      return notebookResponse(buildNotebook([part]), `${row.id}.ipynb`)
    })
  },
})

const containerNotebookRoute = defineRoute({
  method: 'get',
  path: '/v1/containers/{container_id}/notebook.ipynb',
  auth: 'session',
  scope: 'read',
  operationId: 'getContainerNotebook',
  tag: 'Containers',
  summary: 'Download everything that ran in a container as one notebook',
  answers: {
    200: {
      description: `nbformat 4.5; the newest ${MAX_EXECUTIONS} executions, oldest first; fewer when they are big, and the first cell says so.`,
      contentType: 'application/x-ipynb+json',
      schema: () => z.looseObject({}),
    },
  },
  errors: ['container_not_found', 'too_many_results'],
  async handle(call) {
    const { deps, caller } = call
    const container = await containerOf(call, call.param('container_id'), 'read')
    const ports = { objects: deps.objects, executions: deps.table.executions }
    return deps.results.hold(MAX_NOTEBOOK_BYTES, async () => {
      const parts = await containerParts(ports, container, visibleTo(caller, 'read'))
      return notebookResponse(buildNotebook(parts), `${container.id}.ipynb`)
    })
  },
})

const answers = {
  200: {
    description:
      'nbformat 4.5: messages as markdown, each call of the interpreter as the cell that ran. The first cell says when older turns are left out.',
    contentType: 'application/x-ipynb+json',
    schema: () => z.looseObject({}),
  },
}

const conversationNotebookRoute = defineRoute({
  method: 'get',
  path: '/v1/conversations/{conversation_id}/notebook.ipynb',
  auth: 'session',
  scope: 'read',
  operationId: 'getConversationNotebook',
  tag: 'Conversations',
  summary: 'Download a conversation as an executed notebook',
  answers,
  errors: ['conversation_not_found'],
  async handle(call) {
    const { id, tenant } = await conversationOf(call, call.param('conversation_id'), 'read')
    return notebookResponse(await historyNotebook(call.deps, call.caller, await conversationHistory(call.deps, tenant, id)), `${id}.ipynb`)
  },
})

const responseNotebookRoute = defineRoute({
  method: 'get',
  path: '/v1/responses/{response_id}/notebook.ipynb',
  auth: 'session',
  scope: 'read',
  operationId: 'getResponseNotebook',
  tag: 'Responses',
  summary: 'Download a response, with the turns before it, as an executed notebook',
  description: 'For a response of a conversation: the whole conversation.',
  answers,
  errors: ['response_not_found'],
  async handle(call) {
    const { deps, caller } = call
    const row = await responseOf(call, call.param('response_id'), 'read')
    const isOver =
      row.conversationId === null || (await deps.table.conversations.get(caller.tenant, row.conversationId))?.deletedAt !== null
    const history =
      isOver || row.conversationId === null ? historyUpTo(deps, caller, row) : conversationHistory(deps, caller.tenant, row.conversationId)
    return notebookResponse(await historyNotebook(deps, caller, await history), `${row.id}.ipynb`)
  },
})

export const notebookRoutes: readonly AnyRoute[] = [
  containerNotebookRoute,
  executionNotebookRoute,
  conversationNotebookRoute,
  responseNotebookRoute,
]
