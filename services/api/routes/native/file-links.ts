import { z } from '@hono/zod-openapi'
import { containerOf, fileOf } from '../../access.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute, type Call } from '../../http/route.ts'
import { LinkList, renderLink } from '../../wire/link.ts'

const PATH = '/v1/containers/{container_id}/files/{file_id}/links'
const refusals = ['container_not_found', 'file_not_found'] as const

export const listFileLinksRoute = defineRoute({
  method: 'get',
  path: PATH,
  operationId: 'listFileLinks',
  tag: 'Links',
  summary: 'List the links to a file',
  description: 'All that were made and have not been swept away, oldest first.',
  answers: { 200: { description: 'The links, without their addresses.', schema: LinkList } },
  refusals,
  async handle(call) {
    const data = (await linksOf(call)).map(renderLink)
    return json(200, { object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: false })
  },
})

export const revokeFileLinksRoute = defineRoute({
  method: 'delete',
  path: PATH,
  operationId: 'revokeFileLinks',
  tag: 'Links',
  summary: 'Revoke all links to a file',
  description: 'Each answers 404 from then on. The file stays, and a later answer may link to it anew.',
  answers: {
    200: {
      description: 'They are revoked.',
      schema: z.object({ object: z.literal('link.list.deleted'), deleted: z.literal(true), revoked: z.int() }).openapi('RevokedLinks'),
    },
  },
  refusals,
  async handle(call) {
    const { deps, caller } = call
    const live = (await linksOf(call)).filter((link) => link.revokedAt === null)
    const now = deps.clock.now()
    await Promise.all(live.map((link) => deps.table.links.revoke(caller.tenant, link.id, now)))
    return json(200, { object: 'link.list.deleted', deleted: true, revoked: live.length })
  },
})

async function linksOf(call: Call) {
  const container = await containerOf(call, call.param('container_id'))
  const file = await fileOf(call, container.id, call.param('file_id'))
  return call.deps.table.links.ofFile(call.caller.tenant, file.id)
}
