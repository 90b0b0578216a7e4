import { ServiceError } from '../../../model/errors.ts'
import { isId } from '../../../model/ids.ts'
import { snakeCase } from '../../../model/snake-case.ts'
import { hostsOutside } from '../../../model/network/policy.ts'
import { secretNamesOf } from '../../../model/network/secret.ts'
import { defaultsFor, limitsOf, NUMERIC_LIMITS } from '../../../model/tenants/tenant-limits.ts'
import type { Tenant, TenantNetwork, TenantPolicy } from '../../../model/tenants/tenant.ts'
import type { ApiDeps } from '../../../http/deps.ts'
import { checkImage } from '../../../operations/tenancy/check-limits.ts'
import { usedLimits } from '../../../operations/tenancy/used-limits.ts'
import { claimId } from '../../../http/claim-id.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { StrictListQuery, listOf, listSchema, pageOf } from '../../../http/schemas.ts'
import { pageOfList } from '../../../http/paging.ts'
import { planMissing } from './plans.ts'
import { CreateTenant, patchLimits, renderTenant, TenantLimitsObject, TenantObject, UpdateTenant, type PolicyChange } from './schema.ts'

/** Throws ServiceError `tenant_not_found`. */
export async function tenantOf({ table }: Pick<ApiDeps, 'table'>, id: string): Promise<Tenant> {
  const tenant = isId('tenant', id) ? await table.tenants.get(id) : null
  if (tenant === null)
    throw new ServiceError('tenant_not_found', `No tenant ${JSON.stringify(id.slice(0, 80))} exists. List them with GET /v1/admin/tenants.`)
  return tenant
}

/** A tenant that was not deleted. Throws ServiceError `tenant_not_found` or `conflict`. */
export async function liveTenantOf(deps: Pick<ApiDeps, 'table'>, id: string): Promise<Tenant> {
  const tenant = await tenantOf(deps, id)
  if (tenant.deletion !== undefined) throw new ServiceError('conflict', `Tenant ${tenant.id} was deleted. Create another one.`)
  return tenant
}

const tenantNetwork = ({ ceiling, default: policy }: NonNullable<PolicyChange['network']>): TenantNetwork => ({
  ceiling,
  ...(policy && { default: policy }),
})

const changedPolicy = (policy: TenantPolicy, change: PolicyChange): TenantPolicy => {
  const { plan, limits, tools_off: toolsOff, link_days: linkDays } = change
  const { linkDays: formerDays, plan: formerPlan, image: formerImage, network: formerNetwork, ...others } = policy
  const planName = plan === undefined ? formerPlan : (plan ?? undefined)
  const image = change.image === undefined ? formerImage : (change.image ?? undefined)
  const network = change.network === undefined ? formerNetwork : change.network && tenantNetwork(change.network)
  const days = linkDays === undefined ? formerDays : (linkDays ?? undefined)
  return {
    ...others,
    ...(planName !== undefined && { plan: planName }),
    ...(limits !== undefined && { limits: patchLimits(policy.limits, limits) }),
    ...(toolsOff !== undefined && { toolsOff }),
    ...(days !== undefined && { linkDays: days }),
    ...(image !== undefined && { image }),
    ...(network && { network }),
  }
}

/** Throws ServiceError for a plan that does not exist or an image that this server does not offer. */
async function checkChange(deps: Pick<ApiDeps, 'table' | 'images'>, { plan, image, network }: PolicyChange): Promise<void> {
  checkDefault(network)
  if (typeof plan === 'string' && (await deps.table.tenants.getPlan(plan)) === null) throw planMissing(plan)
  if (typeof image === 'string') checkImage(deps, image)
}

/** Throws ServiceError `network_not_allowed`. */
function checkDefault(network: PolicyChange['network']): void {
  if (network?.default === undefined) return
  const outside = hostsOutside(network.default, network.ceiling)
  if (outside.length > 0)
    throw new ServiceError(
      'network_not_allowed',
      `The default allows ${outside.join(', ')}, which the ceiling does not. Add it to the ceiling.`,
      {
        param: 'network.default',
      },
    )
  if (secretNamesOf(network.default).length > 0)
    throw new ServiceError(
      'invalid_request',
      'A default cannot name secrets, because it applies to all end users. Set them per container.',
      {
        param: 'network.default',
      },
    )
}

const createTenantRoute = defineRoute({
  method: 'post',
  path: '/v1/admin/tenants',
  auth: 'session',
  scope: 'admin',
  operationId: 'createTenant',
  tag: 'Administration',
  summary: 'Create a tenant',
  description: 'It has no key yet: create one with POST /v1/admin/tenants/{tenant_id}/keys.',
  body: CreateTenant,
  creates: 'tenant',
  errors: ['plan_not_found', 'network_not_allowed'],
  answers: { 201: { description: 'The tenant.', schema: TenantObject } },
  async handle(call) {
    const { deps, note } = call
    const { name, ...change } = call.body
    const { id, isReplay } = await claimId(call, 'tenant', { body: call.rawBody })
    await checkChange(deps, change)
    const earlier = isReplay ? await deps.table.tenants.get(id) : null
    if (earlier !== null) return json(201, renderTenant(earlier), { 'idempotent-replayed': 'true' })
    const tenant: Tenant = { v: 1, id, name, createdAt: deps.clock.now(), policy: changedPolicy({}, change) }
    await deps.table.tenants.create(tenant)
    note('target_tenant', tenant.id)
    return json(201, renderTenant(tenant))
  },
})

const listTenantsRoute = defineRoute({
  method: 'get',
  path: '/v1/admin/tenants',
  auth: 'session',
  scope: 'admin',
  operationId: 'listTenants',
  tag: 'Administration',
  summary: 'List tenants',
  query: StrictListQuery,
  answers: { 200: { description: 'A page of tenants.', schema: listSchema(TenantObject, 'TenantList') } },
  async handle({ deps, query }) {
    const page = pageOfList(await deps.table.tenants.list(), pageOf(query))
    return json(200, listOf(page.rows.map(renderTenant), page.hasMore))
  },
})

const getTenantRoute = defineRoute({
  method: 'get',
  path: '/v1/admin/tenants/{tenant_id}',
  auth: 'session',
  scope: 'admin',
  operationId: 'getTenant',
  tag: 'Administration',
  summary: 'Get a tenant',
  answers: { 200: { description: 'The tenant.', schema: TenantObject } },
  errors: ['tenant_not_found'],
  handle: async ({ deps, param }) => json(200, renderTenant(await tenantOf(deps, param('tenant_id')))),
})

const updateTenantRoute = defineRoute({
  method: 'post',
  path: '/v1/admin/tenants/{tenant_id}',
  auth: 'session',
  scope: 'admin',
  operationId: 'updateTenant',
  tag: 'Administration',
  summary: 'Change a tenant',
  description: 'Absent fields are unchanged; a limit of null returns to the default. Changed limits apply within ten seconds.',
  body: UpdateTenant,
  answers: { 200: { description: 'The tenant.', schema: TenantObject } },
  errors: ['tenant_not_found', 'plan_not_found', 'network_not_allowed', 'conflict'],
  async handle({ deps, param, body: { name, ...change }, note }) {
    const { tenants } = deps.table
    const tenant = await liveTenantOf(deps, param('tenant_id'))
    await checkChange(deps, change)
    note('target_tenant', tenant.id)
    if (name !== undefined) await tenants.rename(tenant.id, name)
    const changed = await tenants.setPolicy(tenant.id, changedPolicy(tenant.policy ?? {}, change))
    return json(200, renderTenant(changed ?? (await tenantOf(deps, tenant.id))))
  },
})

const tenantLimitsRoute = defineRoute({
  method: 'get',
  path: '/v1/admin/tenants/{tenant_id}/limits',
  auth: 'session',
  scope: 'admin',
  operationId: 'getTenantLimits',
  tag: 'Administration',
  summary: 'The limits that apply to a tenant',
  answers: { 200: { description: 'Every limit of a tenant and what sets it.', schema: TenantLimitsObject } },
  errors: ['tenant_not_found'],
  async handle({ deps, param }) {
    const { id, policy = {} } = await tenantOf(deps, param('tenant_id'))
    const used: Readonly<Record<string, number>> = await usedLimits(deps, id)
    const plan = policy.plan === undefined ? null : await deps.table.tenants.getPlan(policy.plan)
    const [own, planned] = [policy.limits ?? {}, plan?.limits ?? {}]
    const limits = Object.entries(limitsOf({ ...defaultsFor(deps.config.openCalls), ...planned, ...own })).map(([name, value]) => [
      snakeCase(name),
      {
        value,
        unit: NUMERIC_LIMITS[name]?.unit ?? 'tier',
        used: used[name] ?? null,
        set_by: name in own ? 'tenant' : name in planned ? 'plan' : 'default',
      },
    ])
    return json(200, { object: 'tenant_limits', limits: Object.fromEntries(limits) })
  },
})

export const tenantRoutes: readonly AnyRoute[] = [createTenantRoute, listTenantsRoute, getTenantRoute, updateTenantRoute, tenantLimitsRoute]
