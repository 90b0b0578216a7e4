import { z } from '@hono/zod-openapi'
import { buildNotebook, type NotebookPart } from '../../../core/notebook.ts'
import { containerOf, isVisible } from '../../access.ts'
import { NOTEBOOK_INLINE_BYTES, notebookPart } from '../../executions/notebook-part.ts'
import { notebookResponse } from '../../http/notebook-response.ts'
import { defineRoute } from '../../http/route.ts'

/** The newest executions of a container that a notebook takes in. */
const MAX_EXECUTIONS = 500

export const containerNotebookRoute = defineRoute({
  method: 'get',
  path: '/v1/containers/{container_id}/notebook.ipynb',
  operationId: 'getContainerNotebook',
  tag: 'Containers',
  summary: 'Download everything that ran in a container as one notebook',
  answers: {
    200: {
      description: `nbformat 4.5; the newest ${MAX_EXECUTIONS} executions, oldest first.`,
      contentType: 'application/x-ipynb+json',
      schema: z.looseObject({}),
    },
  },
  refusals: ['container_not_found'],
  async handle(call) {
    const { deps, caller } = call
    const container = await containerOf(call, call.param('container_id'))
    const { rows } = await deps.table.executions.listByContainer(caller.tenant, container.id, {
      after: null,
      limit: MAX_EXECUTIONS,
      order: 'desc',
    })
    const budget = { bytes: NOTEBOOK_INLINE_BYTES }
    const parts: NotebookPart[] = []
    for (const row of rows.toReversed()) if (isVisible(row, caller)) parts.push(await notebookPart(deps.objects, row, budget))
    return notebookResponse(buildNotebook(parts), `${container.id}.ipynb`)
  },
})
