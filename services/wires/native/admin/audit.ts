import * as z from 'zod'
import { answerSchema, type Described } from '../../../model/lazy-schema.ts'
import type { AuditBlock, AuditEntry } from '../../../model/audit/audit.ts'
import { json, jsonLines } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { queryInteger } from '../../../http/schemas.ts'
import { tenantOf } from './tenants.ts'

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 1_000
const PAGE_BYTES = 16 * 1024 ** 2
const MAX_SEQ = 999_999_999_999

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
  summary: 'The whole audit log of a tenant, in pages',
  description:
    'One block per line, the first one first, up to 16 MiB. Repeat the call with `after`, the `seq` of the last block, until no block comes. `npm run cli -- audit` signs and verifies the log.',
  query: () => z.strictObject({ after: queryInteger(0, MAX_SEQ, 'The `seq` of the last block that is known.').optional() }),
  answers: { 200: { description: 'The chain of blocks.', schema: AuditBlockLine, contentType: 'application/x-ndjson' } },
  errors: ['tenant_not_found'],
  async handle({ deps, param, query }) {
    const { id } = await tenantOf(deps, param('tenant_id'))
    return jsonLines(page(deps.table.audit.blocks(id, query.after)))
  },
})

/** A streamed answer of a function ends at 200 MB and is slow above 6 MB. A page has at least one block. */
async function* page(blocks: AsyncIterable<AuditBlock>): AsyncGenerator<AuditBlock> {
  let bytes = 0
  for await (const block of blocks) {
    yield block
    bytes += Buffer.byteLength(JSON.stringify(block))
    if (bytes >= PAGE_BYTES) return
  }
}

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
