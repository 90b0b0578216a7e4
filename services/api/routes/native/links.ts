import { ServiceError } from '../../../core/errors.ts'
import { isId } from '../../../core/ids.ts'
import { hashToken } from '../../../core/links.ts'
import { redirectTo } from '../../http/redirect.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { presigner } from '../../render/presign.ts'
import { deletedSchema } from '../../wire/list.ts'

const linkMissing = (): ServiceError =>
  new ServiceError('link_not_found', 'This link does not exist, has expired or was revoked. Ask for a new one.')

export const followLinkRoute = defineRoute({
  method: 'get',
  path: '/d/{token}',
  operationId: 'followLink',
  tag: 'Links',
  auth: 'none',
  summary: 'Download by a long-lived link',
  answers: { 302: { description: 'To the bytes, by a fresh presigned URL.', headers: { Location: 'The presigned URL.' } } },
  refusals: ['link_not_found'],
  async handle({ deps, param, publicUrl, note }) {
    const token = param('token')
    const link = /^[\w-]{20,100}$/.test(token) ? await deps.table.links.findByToken(hashToken(token)) : null
    if (link === null || link.revokedAt !== null || link.expiresAt <= deps.clock.now()) throw linkMissing()
    note('tenant', link.tenant)
    note('link_id', link.id)
    const container = await deps.table.containers.get(link.tenant, link.containerId)
    if (container === null || container.deletedAt !== null) throw linkMissing()
    return redirectTo(await presigner(deps.objects, publicUrl)(link.target.objectKey, link.target.filename, link.target.mime))
  },
})

export const revokeLinkRoute = defineRoute({
  method: 'delete',
  path: '/v1/links/{link_id}',
  operationId: 'revokeLink',
  tag: 'Links',
  summary: 'Revoke a link',
  description: 'It answers 404 from then on. A presigned URL that was handed out before lives its few minutes.',
  answers: { 200: { description: 'It is revoked.', schema: deletedSchema('link.deleted') } },
  refusals: ['link_not_found'],
  async handle({ deps, caller, param }) {
    const id = param('link_id')
    const link = isId('link', id) ? await deps.table.links.revoke(caller.tenant, id, deps.clock.now()) : null
    if (link === null) throw linkMissing()
    return json(200, { id, object: 'link.deleted', deleted: true })
  },
})
