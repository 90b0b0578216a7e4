import * as z from 'zod'
import { answerSchema, type Described } from '../../../model/lazy-schema.ts'
import type { AuditEntry } from '../../../model/audit/audit.ts'
import { json, jsonLines } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { queryInteger } from '../../../http/schemas.ts'
import { tenantOf } from './tenants.ts'

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 1_000

const AuditEntryObject = answerSchema(() =>
  z
    .object({
      object: z.literal('audit_entry'),
      at: z.string(),
      key_id: z.string(),
      subject: z.string().nullable(),
      action: z.string().openapi({ description: 'The operation, by its id in the OpenAPI document.' }),
      status: z.int().openapi({ description: 'HTTP status of the answer.' }),
      request_id: z.string(),
      targets: z.record(z.string(), z.string()).openapi({ description: 'Ids of the objects that the request named or created.' }),
    })
    .openapi('AuditEntry'),
)
const AuditList = answerSchema(() => z.object({ object: z.literal('list'), data: z.array(AuditEntryObject()) }).openapi('AuditEntryList'))

const tenantAuditRoute = defineRoute({
  method: 'get',
  path: '/v1/admin/tenants/{tenant_id}/audit',
  auth: 'session',
  scope: 'admin',
  operationId: 'listAuditEntries',
  tag: 'Administration',
  summary: 'The latest changes that keys of a tenant requested',
  description: 'The newest first, refused ones included. The whole log is at `/audit/blocks`.',
  query: () => z.strictObject({ limit: queryInteger(1, MAX_LIMIT, `Entries, ${DEFAULT_LIMIT} by default.`).optional() }),
  answers: { 200: { description: 'The latest entries.', schema: AuditList } },
  errors: ['tenant_not_found'],
  async handle({ deps, param, query }) {
    const { id } = await tenantOf(deps, param('tenant_id'))
    const entries = await deps.table.audit.recent(id, query.limit ?? DEFAULT_LIMIT)
    return json(200, { object: 'list', data: entries.map(renderEntry) })
  },
})

const AuditBlockLine = answerSchema(() =>
  z
    .object({
      v: z.literal(1),
      tenant: z.string(),
      seq: z.int(),
      at: z.int(),
      entries: z.array(z.record(z.string(), z.unknown())),
      previousHash: z.string(),
      hash: z.string(),
    })
    .openapi('AuditBlock', { description: 'A link of the chain in its stored form, over which the hashes are computed.' }),
)

const auditBlocksRoute = defineRoute({
  method: 'get',
  path: '/v1/admin/tenants/{tenant_id}/audit/blocks',
  auth: 'session',
  scope: 'admin',
  operationId: 'exportAuditLog',
  tag: 'Administration',
  summary: 'The whole audit log of a tenant',
  description: 'One block per line, the first one first. `npm run cli -- audit` signs and verifies it.',
  answers: { 200: { description: 'The chain of blocks.', schema: AuditBlockLine, contentType: 'application/x-ndjson' } },
  errors: ['tenant_not_found'],
  async handle({ deps, param }) {
    const { id } = await tenantOf(deps, param('tenant_id'))
    return jsonLines(deps.table.audit.blocks(id))
  },
})

const renderEntry = ({ at, keyId, subject, action, status, requestId, targets }: AuditEntry): Described<typeof AuditEntryObject> => ({
  object: 'audit_entry',
  at: new Date(at).toISOString(),
  key_id: keyId,
  subject,
  action,
  status,
  request_id: requestId,
  targets,
})

export const tenantAuditRoutes: readonly AnyRoute[] = [tenantAuditRoute, auditBlocksRoute]
