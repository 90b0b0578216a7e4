import { z } from '@hono/zod-openapi'
import { buildNotebook } from '../../../core/executions/notebook.ts'
import { executionOf } from '../../access.ts'
import { NOTEBOOK_INLINE_BYTES, notebookPart } from '../../executions/notebook-part.ts'
import { notebookResponse } from '../../http/notebook-response.ts'
import { defineRoute } from '../../http/route.ts'

export const executionNotebookRoute = defineRoute({
  method: 'get',
  path: '/v1/executions/{execution_id}/notebook.ipynb',
  operationId: 'getExecutionNotebook',
  tag: 'Executions',
  summary: 'Download the executed notebook of an execution',
  answers: { 200: { description: 'nbformat 4.5; opens in Jupyter.', contentType: 'application/x-ipynb+json', schema: z.looseObject({}) } },
  refusals: ['execution_not_found'],
  async handle(call) {
    const row = await executionOf(call, call.param('execution_id'))
    const part = await notebookPart(call.deps.objects, row, { bytes: NOTEBOOK_INLINE_BYTES })
    return notebookResponse(buildNotebook([part]), `${row.id}.ipynb`)
  },
})
