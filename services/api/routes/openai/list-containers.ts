import { z } from '@hono/zod-openapi'
import { isVisible } from '../../access.ts'
import { collectPage } from '../../http/collect-page.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { Container, renderContainer } from '../../wire/container.ts'
import { listOf, ListQuery, listSchema, pageOf } from '../../wire/list.ts'

export const listContainersRoute = defineRoute({
  method: 'get',
  path: '/v1/containers',
  operationId: 'listContainers',
  tag: 'Containers',
  summary: 'List containers',
  query: ListQuery.extend({ name: z.string().max(1_024).optional().openapi({ description: 'Only containers with this name.' }) }),
  answers: { 200: { description: 'A page of containers.', schema: listSchema(Container, 'ContainerList') } },
  async handle({ deps, caller, query }) {
    const page = await collectPage(
      pageOf(query),
      (request) => deps.table.containers.list(caller.tenant, { ...request, name: query.name ?? null }),
      (row) => isVisible(row, caller),
    )
    const now = deps.clock.now()
    return json(
      200,
      listOf(
        page.rows.map((row) => renderContainer(row, now)),
        page.hasMore,
      ),
    )
  },
})
