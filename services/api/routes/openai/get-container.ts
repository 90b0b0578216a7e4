import { containerOf } from '../../access.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { Container, renderContainer } from '../../wire/container.ts'

export const getContainerRoute = defineRoute({
  method: 'get',
  path: '/v1/containers/{container_id}',
  operationId: 'getContainer',
  tag: 'Containers',
  summary: 'Get a container',
  answers: { 200: { description: 'The container.', schema: Container } },
  refusals: ['container_not_found'],
  async handle(call) {
    return json(200, renderContainer(await containerOf(call, call.param('container_id')), call.deps.clock.now()))
  },
})
