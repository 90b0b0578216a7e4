import { z } from '@hono/zod-openapi'
import { buildNotebook } from '../../../core/executions/notebook.ts'
import { containerOf, isVisible } from '../../access.ts'
import { containerParts, MAX_EXECUTIONS } from '../../executions/container-parts.ts'
import { notebookResponse } from '../../http/notebook-response.ts'
import { defineRoute } from '../../http/route.ts'

export const containerNotebookRoute = defineRoute({
  method: 'get',
  path: '/v1/containers/{container_id}/notebook.ipynb',
  operationId: 'getContainerNotebook',
  tag: 'Containers',
  summary: 'Download everything that ran in a container as one notebook',
  answers: {
    200: {
      description: `nbformat 4.5; the newest ${MAX_EXECUTIONS} executions, oldest first; fewer when they are big, and the first cell says so.`,
      contentType: 'application/x-ipynb+json',
      schema: z.looseObject({}),
    },
  },
  refusals: ['container_not_found'],
  async handle(call) {
    const { deps, caller } = call
    const container = await containerOf(call, call.param('container_id'))
    const ports = { objects: deps.objects, executions: deps.table.executions }
    const parts = await containerParts(ports, container, (row) => isVisible(row, caller))
    return notebookResponse(buildNotebook(parts), `${container.id}.ipynb`)
  },
})
