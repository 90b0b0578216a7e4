import { ServiceError } from '../../../model/errors.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { renderTenant, TenantObject } from './schema.ts'
import { tenantOf } from './tenants.ts'

const deleteTenantRoute = defineRoute({
  method: 'delete',
  path: '/v1/admin/tenants/{tenant_id}',
  auth: 'session',
  scope: 'admin',
  operationId: 'deleteTenant',
  tag: 'Administration',
  summary: 'Delete a tenant with everything that it owns',
  description:
    'Revokes its keys at once. The reconciler stops its sandboxes and removes rows and objects; `deletion` reports the progress and what remains. Idempotent.',
  answers: { 202: { description: 'The deletion has begun.', schema: TenantObject } },
  errors: ['tenant_not_found', 'conflict'],
  async handle({ deps, caller, param, note }) {
    const { tenants } = deps.table
    const tenant = await tenantOf(deps, param('tenant_id'))
    if (tenant.id === caller.tenant)
      throw new ServiceError('conflict', 'A tenant cannot delete itself. Use an admin key of another tenant.')
    const now = deps.clock.now()
    const marked = await tenants.beginDeletion(tenant.id, now)
    const keys = (await tenants.listKeys()).filter((key) => key.tenant === tenant.id && key.revokedAt === null)
    await Promise.all(keys.map(({ id }) => tenants.revokeKey(id, now)))
    note('target_tenant', tenant.id)
    return json(202, renderTenant(marked ?? tenant))
  },
})

export const tenantDeletionRoutes: readonly AnyRoute[] = [deleteTenantRoute]
