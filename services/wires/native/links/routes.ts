import * as z from 'zod'
import { containerOf, fileOf, requireScope, visibleTo } from '../../../operations/access.ts'
import { answerWithBytes } from '../../../http/answer-with-bytes.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type Call, type AnyRoute } from '../../../http/route.ts'
import { deletedSchema, listSchema } from '../../../http/schemas.ts'
import { ServiceError } from '../../../model/errors.ts'
import type { Caller, Scope } from '../../../model/tenants/tenant.ts'
import { isId } from '../../../model/ids.ts'
import { hashToken } from '../../../operations/links/create-link.ts'
import type { Link as LinkRow } from '../../../model/links/link.ts'
import { lazySchema, type Described } from '../../../model/lazy-schema.ts'

const Link = lazySchema(() =>
  z
    .object({
      id: z.string().openapi({ example: 'link_01kajv9h2s8p0ww3d4dq4cs1zt' }),
      object: z.literal('link'),
      file_id: z.string().nullable(),
      filename: z.string(),
      created_at: z.string(),
      expires_at: z.string(),
      revoked_at: z.string().nullable(),
    })
    .openapi('Link', {
      description: 'A long-lived link. Its address appears once, in the answer for which it was created: only its hash is stored.',
    }),
)
const LinkList = listSchema(Link, 'LinkList')

const renderLink = (link: LinkRow): Described<typeof Link> => ({
  id: link.id,
  object: 'link',
  file_id: link.fileId,
  filename: link.target.filename,
  created_at: new Date(link.createdAt).toISOString(),
  expires_at: new Date(link.expiresAt).toISOString(),
  revoked_at: link.revokedAt === null ? null : new Date(link.revokedAt).toISOString(),
})

const linkMissing = (): ServiceError =>
  new ServiceError('link_not_found', 'This link does not exist, has expired or was revoked. Request a new one.')

const followLinkRoute = defineRoute({
  method: 'get',
  path: '/d/{token}',
  auth: 'public',
  operationId: 'followLink',
  tag: 'Links',
  summary: 'Download by a long-lived link',
  answers: { 302: { description: 'Redirects to the bytes, at a new presigned URL.', headers: { Location: 'The presigned URL.' } } },
  description: 'The operator can set that links open only with an API key of their tenant.',
  errors: ['link_not_found', 'invalid_api_key'],
  async handle({ deps, request, param, publicUrl, note, authenticate }) {
    const caller = deps.config.linksRequireKey ? await authenticate() : null
    if (caller !== null) requireScope(caller, 'files')
    const token = param('token')
    const link = /^[\w-]{20,100}$/.test(token) ? await deps.table.links.findByToken(hashToken(token)) : null
    if (link === null || link.revokedAt !== null || link.expiresAt <= deps.clock.now()) throw linkMissing()
    if (caller !== null && !(await mayFollow(deps, link, caller))) throw linkMissing()
    note('tenant', link.tenant)
    note('link_id', link.id)
    if (!(await isThere(deps, link))) throw linkMissing()
    // Apps of other origins display answers and the images in them.
    return answerWithBytes({ deps, request, publicUrl }, link.target, { 'cross-origin-resource-policy': 'cross-origin' })
  },
})

/** A key opens links to objects that it may see. */
async function mayFollow({ table }: Call['deps'], { tenant, containerId }: LinkRow, caller: Caller): Promise<boolean> {
  if (tenant !== caller.tenant) return false
  const container = caller.subject === null ? null : await table.containers.get(tenant, containerId)
  return caller.subject === null || (container !== null && visibleTo(caller, 'files')(container))
}

/** Its container, and its file where it shows one, must not have been deleted. */
async function isThere({ table }: Call['deps'], { tenant, containerId, fileId }: LinkRow): Promise<boolean> {
  const [container, file] = await Promise.all([
    table.containers.get(tenant, containerId),
    fileId === null ? null : table.files.get(tenant, containerId, fileId),
  ])
  return container !== null && container.deletedAt === null && (fileId === null || file?.state === 'stored')
}

const revokeLinkRoute = defineRoute({
  method: 'delete',
  path: '/v1/links/{link_id}',
  auth: 'session',
  scope: 'files',
  operationId: 'revokeLink',
  tag: 'Links',
  summary: 'Revoke a link',
  description:
    'The link answers 404 afterwards. Answers have its id as `link_id`: beside each file and image of a call, and in `x_cellblock` of a citation. A presigned URL that was issued before remains valid for a few minutes.',
  answers: { 200: { description: 'The link is revoked.', schema: deletedSchema('link.deleted') } },
  errors: ['link_not_found'],
  async handle(call) {
    const { deps, caller, param } = call
    const id = param('link_id')
    const link = isId('link', id) ? await deps.table.links.get(caller.tenant, id) : null
    if (link === null) throw linkMissing()
    // A caller who may not see the container may not revoke its links.
    await containerOf(call, link.containerId, 'files').catch((cause: unknown) => {
      throw cause instanceof ServiceError ? linkMissing() : cause
    })
    await deps.table.links.revoke(caller.tenant, id, deps.clock.now())
    return json(200, { id, object: 'link.deleted', deleted: true })
  },
})

const PATH = '/v1/containers/{container_id}/files/{file_id}/links'
const errors = ['container_not_found', 'file_not_found'] as const

const listFileLinksRoute = defineRoute({
  method: 'get',
  path: PATH,
  auth: 'session',
  scope: 'read',
  operationId: 'listFileLinks',
  tag: 'Links',
  summary: 'List the links to a file',
  description: 'All links whose records still exist, revoked and expired ones included, oldest first.',
  answers: { 200: { description: 'The links, without their addresses.', schema: LinkList } },
  errors,
  async handle(call) {
    const data = (await linksOf(call, 'read')).map(renderLink)
    return json(200, { object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: false })
  },
})

const revokeFileLinksRoute = defineRoute({
  method: 'delete',
  path: PATH,
  auth: 'session',
  scope: 'files',
  operationId: 'revokeFileLinks',
  tag: 'Links',
  summary: 'Revoke all links to a file',
  description: 'Each link answers 404 afterwards. The file remains, and a later answer may contain a new link to it.',
  answers: {
    200: {
      description: 'All links to the file are revoked.',
      schema: () =>
        z.object({ object: z.literal('link.list.deleted'), deleted: z.literal(true), revoked: z.int() }).openapi('RevokedLinks'),
    },
  },
  errors,
  async handle(call) {
    const { deps, caller } = call
    const live = (await linksOf(call, 'files')).filter((link) => link.revokedAt === null)
    const now = deps.clock.now()
    await Promise.all(live.map((link) => deps.table.links.revoke(caller.tenant, link.id, now)))
    return json(200, { object: 'link.list.deleted', deleted: true, revoked: live.length })
  },
})

async function linksOf(call: Call, scope: Scope) {
  const container = await containerOf(call, call.param('container_id'), scope)
  const file = await fileOf(call, { containerId: container.id, id: call.param('file_id') }, scope)
  return call.deps.table.links.ofFile(call.caller.tenant, file.id)
}

export const linkRoutes: readonly AnyRoute[] = [followLinkRoute, listFileLinksRoute, revokeFileLinksRoute, revokeLinkRoute]
