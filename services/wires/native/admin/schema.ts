import * as z from 'zod'
import { boundedList } from '../../../model/bounded-schemas.ts'
import { answerSchema, lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { IMAGE_NAME } from '../../../model/containers/images.ts'
import { MEMORY_TIERS } from '../../../model/limits.ts'
import { NetworkCeilingSchema, NetworkPolicySchema } from '../../../model/network/policy-schema.ts'
import { snakeCase } from '../../../model/snake-case.ts'
import { NUMERIC_LIMITS, type TenantLimits } from '../../../model/tenants/tenant-limits.ts'
import { LINK_DAYS, SCOPES, type ApiKey, type Plan, type Tenant, type TenantDeletion } from '../../../model/tenants/tenant.ts'

const MAX_NAME_LENGTH = 100
const name = lazySchema(() => z.string().trim().min(1).max(MAX_NAME_LENGTH))

const limit = ({ min, max }: { readonly min: number; readonly max: number }) => z.int().min(min).max(max).nullable().optional()
/** Limits of a tenant or a plan under their wire names; null removes one, so that the plan's or the default applies. */
export const LimitsPatch = lazySchema(() =>
  z
    .strictObject({
      ...Object.fromEntries(Object.entries(NUMERIC_LIMITS).map(([key, range]) => [snakeCase(key), limit(range)])),
      memory_limit: z.enum(MEMORY_TIERS).nullable().optional(),
    })
    .openapi('LimitsPatch'),
)
type LimitsPatch = Described<typeof LimitsPatch>

export const PLAN_NAME = /^[a-z0-9][a-z0-9-]{0,49}$/
export const PutPlan = lazySchema(() => z.strictObject({ limits: LimitsPatch() }))
export const PlanObject = answerSchema(() =>
  z
    .object({
      id: z.string(),
      object: z.literal('plan'),
      created_at: z.string(),
      limits: z.record(z.string(), z.union([z.number(), z.string()])),
    })
    .openapi('Plan'),
)

const TenantNetworkBody = lazySchema(() =>
  z
    .strictObject({
      ceiling: NetworkCeilingSchema(),
      default: NetworkPolicySchema().optional().openapi({ description: 'The policy of containers for which the client requests none.' }),
    })
    .openapi('TenantNetwork', { description: '`ceiling`: what containers may reach at most; it applies to each request.' }),
)

const policyFields = lazySchema(() => ({
  plan: z.string().max(50).nullable().optional().openapi({ description: 'Name of a plan; null for none.' }),
  limits: LimitsPatch().optional(),
  tools_off: boundedList(z.string().min(1).max(100), { max: 50 }).optional(),
  link_days: z.int().min(LINK_DAYS.min).max(LINK_DAYS.max).nullable().optional(),
  image: z.string().regex(IMAGE_NAME).nullable().optional().openapi({ description: 'The image of containers that name none.' }),
  network: TenantNetworkBody().nullable().optional().openapi({ description: 'Hosts that containers may reach; null for none.' }),
}))
export const CreateTenant = lazySchema(() => z.strictObject({ name: name(), ...policyFields() }))
export const UpdateTenant = lazySchema(() => z.strictObject({ name: name().optional(), ...policyFields() }))
export type PolicyChange = Omit<Described<typeof UpdateTenant>, 'name'>

export const TenantObject = answerSchema(() =>
  z
    .object({
      id: z.string(),
      object: z.literal('tenant'),
      name: z.string(),
      created_at: z.string(),
      plan: z.string().nullable(),
      limits: z
        .record(z.string(), z.union([z.number(), z.string()]))
        .openapi({ description: "The tenant's settings; others have the default." }),
      tools_off: z.array(z.string()),
      link_days: z.int().nullable(),
      image: z.string().nullable(),
      network: z.record(z.string(), z.unknown()).nullable().openapi({ description: 'As it was set; null for none.' }),
      deletion: z
        .object({
          requested_at: z.string(),
          completed_at: z.string().nullable(),
          removed_rows: z.int(),
          removed_objects: z.int(),
          remains: z.array(z.string()).openapi({ description: 'Description of what remains after the deletion.' }),
        })
        .nullable()
        .openapi({ description: 'Null for a tenant that was not deleted.' }),
    })
    .openapi('Tenant'),
)

export const TenantLimitsObject = answerSchema(() =>
  z
    .object({
      object: z.literal('tenant_limits'),
      limits: z.record(
        z.string(),
        z.object({
          value: z.union([z.number(), z.string()]),
          unit: z.enum(['seconds', 'days', 'bytes', 'count', 'tier']),
          used: z
            .number()
            .nullable()
            .openapi({ description: 'Now, or today for limits per day; null where it is counted per call or per container.' }),
          set_by: z.enum(['tenant', 'plan', 'default']),
        }),
      ),
    })
    .openapi('TenantLimits'),
)

export const CreateKey = lazySchema(() =>
  z.strictObject({
    name: name().nullable().optional(),
    subject: z.string().min(1).max(200).nullable().optional().openapi({ description: 'Binds the key to one end user of the tenant.' }),
    scopes: boundedList(z.enum(SCOPES), { min: 1, max: SCOPES.length }).optional().openapi({ description: 'All but `admin` by default.' }),
    expires_at: z.iso.datetime().nullable().optional(),
  }),
)

const key = answerSchema(() => ({
  id: z.string(),
  object: z.literal('api_key'),
  tenant_id: z.string(),
  name: z.string().nullable(),
  subject: z.string().nullable(),
  scopes: z.array(z.enum(SCOPES)),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  last_used_at: z.string().nullable().openapi({ description: 'Accurate to five minutes.' }),
  revoked_at: z.string().nullable(),
}))
export const KeyObject = lazySchema(() => z.object(key()).openapi('ApiKey'))
export const NewKeyObject = lazySchema(() =>
  z.object({ ...key(), api_key: z.string().openapi({ description: 'The key itself, in this answer only.' }) }).openapi('NewApiKey'),
)

const timeOf = (at: number): string => new Date(at).toISOString()
const timeOrNull = (at: number | null): string | null => (at === null ? null : timeOf(at))

export const renderLimits = (limits: Partial<TenantLimits> | undefined): Record<string, number | string> =>
  Object.fromEntries(Object.entries(limits ?? {}).map(([key, value]) => [snakeCase(key), value]))

const REMAINS = [
  'this report: id and name of the tenant',
  'the audit log and its signed digests',
  'backups that were made before, until the operator deletes them',
  'log lines with ids, until the retention of the logs ends',
]

const renderDeletion = ({ requestedAt, completedAt, removedRows, removedObjects }: TenantDeletion) => ({
  requested_at: timeOf(requestedAt),
  completed_at: timeOrNull(completedAt),
  removed_rows: removedRows,
  removed_objects: removedObjects,
  remains: REMAINS,
})

export const renderTenant = ({ id, name: label, createdAt, policy = {}, deletion }: Tenant): Described<typeof TenantObject> => ({
  id,
  object: 'tenant',
  name: label,
  created_at: timeOf(createdAt),
  plan: policy.plan ?? null,
  limits: renderLimits(policy.limits),
  tools_off: [...(policy.toolsOff ?? [])],
  link_days: policy.linkDays ?? null,
  image: policy.image ?? null,
  network: policy.network === undefined ? null : { ...policy.network },
  deletion: deletion === undefined ? null : renderDeletion(deletion),
})

export const renderPlan = (plan: Plan): Described<typeof PlanObject> => ({
  id: plan.name,
  object: 'plan',
  created_at: timeOf(plan.createdAt),
  limits: renderLimits(plan.limits),
})

export const renderKey = (row: ApiKey): Described<typeof KeyObject> => ({
  id: row.id,
  object: 'api_key',
  tenant_id: row.tenant,
  name: row.name,
  subject: row.subject,
  scopes: [...row.scopes],
  created_at: timeOf(row.createdAt),
  expires_at: timeOrNull(row.expiresAt),
  last_used_at: timeOrNull(row.lastUsedAt),
  revoked_at: timeOrNull(row.revokedAt),
})

const FIELD_OF = new Map([...Object.keys(NUMERIC_LIMITS), 'memoryLimit'].map((field) => [snakeCase(field), field]))

/** The limits after a patch: absent ones stay, null removes one. */
export function patchLimits(limits: Partial<TenantLimits> | undefined, patch: LimitsPatch): Partial<TenantLimits> {
  const changed = new Map<string, unknown>(Object.entries(limits ?? {}))
  for (const [wireName, value] of Object.entries(patch)) {
    const field = FIELD_OF.get(wireName) ?? wireName
    if (value === null) changed.delete(field)
    else if (value !== undefined) changed.set(field, value)
  }
  return Object.fromEntries(changed)
}
