import * as z from 'zod'
import { ServiceError } from '../../../model/errors.ts'
import { answerSchema, lazySchema } from '../../../model/lazy-schema.ts'
import { tenantObjects } from '../../../model/object-keys.ts'
import type { ExportedRow } from '../../../ports/tenant-rows.ts'
import { presigner } from '../../../operations/files/presign.ts'
import { exportTenant } from '../../../operations/tenancy/export-tenant.ts'
import { keepAliveJson } from '../../../http/keep-alive-json.ts'
import { json, redirectTo } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { errorEnvelope } from '../../../http/error-response.ts'
import { liveTenantOf, tenantOf } from './tenants.ts'

const TenantExportObject = answerSchema(() =>
  z
    .object({
      object: z.literal('tenant.export'),
      tenant_id: z.string(),
      rows: z.int(),
      bytes: z.int(),
      url: z.string().openapi({
        description:
          'The export, for five minutes: one JSON object per line with `kind`, `id`, `part`, `fields` and, of a file, `download_url`.',
      }),
      deleted_at: z.iso.datetime().openapi({ description: 'When the stored export is deleted. A further export replaces it.' }),
    })
    .openapi('TenantExport'),
)

const exportTenantRoute = defineRoute({
  method: 'post',
  path: '/v1/admin/tenants/{tenant_id}/export',
  auth: 'session',
  scope: 'admin',
  operationId: 'exportTenant',
  tag: 'Administration',
  summary: 'Export everything that is stored of a tenant',
  description:
    'Stores one JSON object per line, in no particular order, and answers with a link to them. Keys, signing secrets and idempotency records are left out.',
  answers: { 200: { description: 'The stored export.', schema: TenantExportObject } },
  errors: ['tenant_not_found', 'conflict', 'limit_exceeded'],
  async handle({ deps, publicUrl, param, note, requestId }) {
    const { id } = await liveTenantOf(deps, param('tenant_id'))
    note('target_tenant', id)
    const answer = async (): Promise<Response> => {
      const maxSeconds = deps.config.maxHoldSeconds
      const stored = await exportTenant(deps, id, { maxSeconds, describe: (row) => downloadOf(row, `${publicUrl}/v1/admin/tenants/${id}`) })
      const url = await presigner(deps.objects, publicUrl)(stored.objectKey, `${id}.jsonl`, 'application/x-ndjson')
      return json(200, {
        object: 'tenant.export',
        tenant_id: id,
        rows: stored.rows,
        bytes: stored.bytes,
        url,
        deleted_at: new Date(stored.deletedAt).toISOString(),
      })
    }
    return keepAliveJson(answer(), { onError: (error) => JSON.stringify(errorEnvelope(refusalOf(error), requestId)) })
  },
})

const refusalOf = (error: unknown): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError('internal_error', 'The export could not be stored. Call again.')

/** An export is read later than a link of five minutes permits, so it names a route that makes the link. */
function downloadOf({ fields }: ExportedRow, tenantUrl: string): object {
  const { objectKey, path, filename = path, mime, state = 'stored' } = fields
  if (typeof objectKey !== 'string' || typeof mime !== 'string' || state !== 'stored') return {}
  const query = new URLSearchParams({ key: objectKey, filename: String(filename).split('/').at(-1) ?? 'file' })
  return { download_url: `${tenantUrl}/objects?${query.toString()}` }
}

const ObjectQuery = lazySchema(() =>
  z.strictObject({
    key: z.string().max(1_024).openapi({ description: '`objectKey` of a row of the export.' }),
    filename: z.string().min(1).max(255).default('file').openapi({ description: 'The name under which a browser saves it.' }),
  }),
)

const exportedObjectRoute = defineRoute({
  method: 'get',
  path: '/v1/admin/tenants/{tenant_id}/objects',
  auth: 'session',
  scope: 'admin',
  operationId: 'getTenantObject',
  tag: 'Administration',
  summary: 'Download the bytes of a row of an export',
  query: ObjectQuery,
  answers: { 302: { description: 'A link to the bytes, for five minutes.' } },
  errors: ['tenant_not_found', 'file_not_found'],
  async handle({ deps, publicUrl, param, query: { key, filename }, note }) {
    const { id } = await tenantOf(deps, param('tenant_id'))
    note('target_tenant', id)
    const isStored = key.startsWith(tenantObjects(id)) && (await deps.objects.head(key)) !== null
    if (!isStored) throw new ServiceError('file_not_found', `Tenant ${id} has no object with this key. Take the key from a new export.`)
    return redirectTo(await presigner(deps.objects, publicUrl)(key, filename, 'application/octet-stream'))
  },
})

export const exportRoutes: readonly AnyRoute[] = [exportTenantRoute, exportedObjectRoute]
