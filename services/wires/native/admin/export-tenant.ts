import * as z from 'zod'
import { answerSchema } from '../../../model/lazy-schema.ts'
import type { ExportedRow } from '../../../ports/tenant-rows.ts'
import { presigner } from '../../../operations/files/presign.ts'
import { jsonLines } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute, type Call } from '../../../http/route.ts'
import { tenantOf } from './tenants.ts'

const ExportLine = answerSchema(() =>
  z
    .object({
      kind: z.string(),
      id: z.string(),
      part: z.string().nullable(),
      fields: z.record(z.string(), z.unknown()),
      download_url: z.string().optional().openapi({ description: 'The bytes of a file, for five minutes.' }),
    })
    .openapi('ExportLine'),
)

const exportTenantRoute = defineRoute({
  method: 'get',
  path: '/v1/admin/tenants/{tenant_id}/export',
  auth: 'session',
  scope: 'admin',
  operationId: 'exportTenant',
  tag: 'Administration',
  summary: 'Export everything that is stored of a tenant',
  description: 'One JSON object per line. Keys, signing secrets and idempotency records are left out.',
  answers: { 200: { description: 'The rows, in no particular order.', schema: ExportLine, contentType: 'application/x-ndjson' } },
  errors: ['tenant_not_found'],
  async handle(call) {
    const { id } = await tenantOf(call.deps, call.param('tenant_id'))
    call.note('target_tenant', id)
    return jsonLines(exportLines(call, id))
  },
})

async function* exportLines({ deps, publicUrl }: Call, tenant: string): AsyncGenerator<object, void, undefined> {
  const presign = presigner(deps.objects, publicUrl)
  for await (const row of deps.table.tenantRows.export(tenant)) {
    const file = fileOf(row)
    const url = file === null ? {} : { download_url: await presign(file.objectKey, file.filename, file.mime) }
    yield { ...row, ...url }
  }
}

function fileOf({ fields }: ExportedRow): { readonly objectKey: string; readonly filename: string; readonly mime: string } | null {
  const { objectKey, path, filename = path, mime, state = 'stored' } = fields
  if (typeof objectKey !== 'string' || typeof mime !== 'string' || state !== 'stored') return null
  return { objectKey, mime, filename: String(filename).split('/').at(-1) ?? 'file' }
}

export const exportRoutes: readonly AnyRoute[] = [exportTenantRoute]
