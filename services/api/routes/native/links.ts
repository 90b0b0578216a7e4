import { ServiceError } from '../../../core/errors.ts'
import { isId } from '../../../core/ids.ts'
import type { Link as LinkRow } from '../../../core/links/link.ts'
import { hashToken } from '../../../core/links/create-link.ts'
import { containerOf } from '../../access.ts'
import { redirectTo } from '../../http/redirect.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute, type Call } from '../../http/route.ts'
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
    if (!(await isThere(deps, link))) throw linkMissing()
    const url = await presigner(deps.objects, publicUrl)(link.target.objectKey, link.target.filename, link.target.mime)
    // Answers are shown by apps of other origins, pictures in them too.
    return redirectTo(url, { 'cross-origin-resource-policy': 'cross-origin' })
  },
})

/** Its container, and its file where it shows one, must not have been deleted. */
async function isThere({ table }: Call['deps'], { tenant, containerId, fileId }: LinkRow): Promise<boolean> {
  const [container, file] = await Promise.all([
    table.containers.get(tenant, containerId),
    fileId === null ? null : table.files.get(tenant, containerId, fileId),
  ])
  return container !== null && container.deletedAt === null && (fileId === null || file?.state === 'stored')
}

export const revokeLinkRoute = defineRoute({
  method: 'delete',
  path: '/v1/links/{link_id}',
  operationId: 'revokeLink',
  tag: 'Links',
  summary: 'Revoke a link',
  description:
    'It answers 404 from then on. Answers show its id as `link_id`: beside each file and picture of a call, and in `x_cellblock` of a citation. A presigned URL that was handed out before lives its few minutes.',
  answers: { 200: { description: 'It is revoked.', schema: deletedSchema('link.deleted') } },
  refusals: ['link_not_found'],
  async handle(call) {
    const { deps, caller, param } = call
    const id = param('link_id')
    const link = isId('link', id) ? await deps.table.links.get(caller.tenant, id) : null
    if (link === null) throw linkMissing()
    // Who may not see the container may not end its links either.
    await containerOf(call, link.containerId).catch((cause: unknown) => {
      throw cause instanceof ServiceError ? linkMissing() : cause
    })
    await deps.table.links.revoke(caller.tenant, id, deps.clock.now())
    return json(200, { id, object: 'link.deleted', deleted: true })
  },
})
