import type { Caller } from '../model/tenants/tenant.ts'
import type { AuditLog } from '../operations/audit/audit-log.ts'

const READS: readonly string[] = ['GET', 'HEAD', 'OPTIONS']
/** Fields of the wide event that name objects. */
const TARGET = /(?:_id|^target_\w+|^webhook_endpoint)$/
const NO_TARGETS: readonly string[] = ['key_id', 'request_id']

export interface AuditedRequest {
  readonly caller: Caller
  readonly method: string
  readonly status: number
  readonly requestId: string
  readonly at: number
  readonly fields: Readonly<Record<string, string | number | boolean | null>>
  /** Path parameters. */
  readonly params: Readonly<Record<string, string>>
}

/** Records a request that may change something, under the caller's tenant and under the tenant that an administrator changed. */
export async function recordRequest(audit: AuditLog, request: AuditedRequest): Promise<void> {
  const { caller, method, status, requestId, at, fields, params } = request
  if (READS.includes(method)) return
  const noted = Object.entries(fields).filter(([name]) => TARGET.test(name) && !NO_TARGETS.includes(name))
  const targets = Object.fromEntries([...Object.entries(params), ...noted].map(([name, value]) => [name, String(value).slice(0, 100)]))
  const action = String(fields['route'] ?? 'unknown')
  const entry = { at, keyId: caller.keyId, subject: caller.subject, action, status, requestId, targets }
  const isDurable = method === 'DELETE' || typeof fields['target_tenant'] === 'string' || typeof fields['target_key'] === 'string'
  const target = fields['target_tenant']
  const tenants = new Set([caller.tenant, ...(typeof target === 'string' ? [target] : [])])
  await Promise.all([...tenants].map((tenant) => audit.record(tenant, entry, isDurable)))
}
