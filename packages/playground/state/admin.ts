import { signal } from '@preact/signals'
import { call, messageOf, send } from '../api/call.ts'
import type { List, RunSummary } from '../api/types.ts'
import { readMetrics, type Metrics } from './metrics.ts'
import { readRuns } from './runs.ts'

export interface Tenant {
  readonly id: string
  readonly name: string
  readonly created_at: string
  readonly plan: string | null
  readonly image: string | null
  readonly network: TenantNetwork | null
  readonly deletion: object | null
  readonly limits: Readonly<Record<string, number | string>>
}

/** What containers of the tenant may reach at most, and the policy of those for which the client requests none. */
interface TenantNetwork {
  readonly ceiling: { readonly allow: readonly { readonly host: string }[]; readonly presets: readonly string[] }
  readonly default?: unknown
}

export interface RefusedHost {
  readonly host: string
  readonly reason: string
  readonly requests: number
  readonly last_at: string
  readonly container_id: string
  readonly in_ceiling: boolean
}

export interface ApiKey {
  readonly id: string
  readonly name: string | null
  readonly subject: string | null
  readonly scopes: readonly string[]
  readonly expires_at: string | null
  readonly last_used_at: string | null
  readonly revoked_at: string | null
}

export interface UsageSum {
  readonly executions: number
  readonly sandbox_seconds: number
  readonly cost_usd: number
  readonly model_input_tokens: number
  readonly model_output_tokens: number
}

export interface Usage {
  readonly from: string
  readonly to: string
  readonly days: readonly (UsageSum & { readonly date: string })[]
  readonly total: UsageSum
}

export interface AuditEntry {
  readonly at: string
  readonly key_id: string
  readonly subject: string | null
  readonly action: string
  readonly status: number
  readonly request_id: string
}

export interface TenantLimit {
  readonly value: number | string
  readonly unit: string
  readonly used: number | null
  readonly set_by: 'tenant' | 'plan' | 'default'
}

export const limits = signal<Readonly<Record<string, TenantLimit>>>({})
export const tenants = signal<readonly Tenant[]>([])
export const tenantId = signal<string | null>(null)
export const keys = signal<readonly ApiKey[]>([])
export const usage = signal<Usage | null>(null)
/** The latest changes of the open tenant, the newest first. */
export const audit = signal<readonly AuditEntry[]>([])
/** The newest runs of the open tenant. */
export const tenantRuns = signal<readonly RunSummary[]>([])
/** Hosts that code of the open tenant was refused, the latest first. */
export const refusedHosts = signal<readonly RefusedHost[]>([])
export const plans = signal<readonly string[]>([])
/** Null where the server gives its metrics to no browser. */
export const metrics = signal<Metrics | null>(null)
export const adminFailure = signal<string | null>(null)
/** A key that was just created: the server shows it once. */
export const newKey = signal<string | null>(null)

const MAX_PAGES = 50
const AUDIT_ENTRIES = 1_000

async function listAll<T extends { readonly id: string }>(path: string): Promise<T[]> {
  const found: T[] = []
  for (let page = 0, after = ''; page < MAX_PAGES; page++) {
    const list = await call<List<T>>(`${path}?limit=100${after}`)
    found.push(...list.data)
    if (!list.has_more) break
    after = `&after=${found.at(-1)?.id ?? ''}`
  }
  return found
}

/** Runs an act of the view; its refusal becomes the sentence that the view shows. */
async function attempt(act: () => Promise<void>): Promise<void> {
  adminFailure.value = null
  await act().catch((error: unknown) => (adminFailure.value = messageOf(error)))
}

export const loadTenants = (): Promise<void> =>
  attempt(async () => {
    const [found, named] = await Promise.all([listAll<Tenant>('/v1/admin/tenants'), listAll('/v1/admin/plans')])
    // The report of a deletion stays, and is no tenant.
    tenants.value = found.filter(({ deletion }) => deletion === null).toSorted((a, b) => a.name.localeCompare(b.name))
    plans.value = named.map(({ id }) => id)
  })

export const openTenant = (id: string): Promise<void> =>
  attempt(async () => {
    tenantId.value = id
    newKey.value = null
    const [listed, used, changes, allowed, refused, ran] = await Promise.all([
      listAll<ApiKey>(`/v1/admin/tenants/${id}/keys`),
      call<Usage>(`/v1/admin/tenants/${id}/usage`),
      call<Pick<List<AuditEntry>, 'data'>>(`/v1/admin/tenants/${id}/audit?limit=${AUDIT_ENTRIES}`),
      call<{ readonly limits: Readonly<Record<string, TenantLimit>> }>(`/v1/admin/tenants/${id}/limits`),
      call<Pick<List<RefusedHost>, 'data'>>(`/v1/admin/tenants/${id}/refused_hosts`),
      readRuns(`/v1/admin/tenants/${id}/executions`),
    ])
    if (tenantId.value !== id) return
    keys.value = listed
    usage.value = used
    audit.value = changes.data
    limits.value = allowed.limits
    refusedHosts.value = refused.data
    tenantRuns.value = ran
  })

export const createTenant = (name: string): Promise<void> =>
  attempt(async () => {
    const { id } = await call<Tenant>('/v1/admin/tenants', { body: { name } })
    await loadTenants()
    await openTenant(id)
  })

export const choosePlan = (plan: string | null): Promise<void> =>
  attempt(async () => {
    await call(`/v1/admin/tenants/${tenantId.value}`, { method: 'POST', body: { plan } })
    await loadTenants()
  })

/** The page of the server itself. */
export function openServer(): void {
  tenantId.value = null
  newKey.value = null
  adminFailure.value = null
}

/** Null gives the limit back to the plan or the default. */
export const changeLimit = (name: string, value: number | string | null): Promise<void> =>
  attempt(async () => {
    const id = tenantId.value ?? ''
    await call(`/v1/admin/tenants/${id}`, { method: 'POST', body: { limits: { [name]: value } } })
    await openTenant(id)
  })

/** Adds a host to what containers of the tenant may reach. Each container still needs it in its own policy. */
export const allowHost = (host: string): Promise<void> =>
  attempt(async () => {
    const id = tenantId.value ?? ''
    // Another operator may have changed it since the list was read.
    const { network } = await call<Tenant>(`/v1/admin/tenants/${id}`)
    const { allow, presets } = network?.ceiling ?? { allow: [], presets: [] }
    await call(`/v1/admin/tenants/${id}`, {
      method: 'POST',
      body: { network: { ...network, ceiling: { allow: [...allow, { host }], presets } } },
    })
    await loadTenants()
    await openTenant(id)
  })

export const deleteTenant = (id: string): Promise<void> =>
  attempt(async () => {
    await call(`/v1/admin/tenants/${id}`, { method: 'DELETE' })
    openServer()
    await loadTenants()
  })

export interface NewKey {
  readonly name: string
  readonly scopes: readonly string[]
  readonly subject?: string
  readonly expires_at?: string
}

export const createKey = (wanted: NewKey): Promise<void> =>
  attempt(async () => {
    const id = tenantId.value ?? ''
    const made = await call<{ readonly api_key: string }>(`/v1/admin/tenants/${id}/keys`, { body: wanted })
    await openTenant(id)
    newKey.value = made.api_key
  })

export const revokeKey = (id: string): Promise<void> =>
  attempt(async () => {
    await call(`/v1/admin/keys/${id}/revoke`, { method: 'POST' })
    await openTenant(tenantId.value ?? '')
  })

export async function loadMetrics(): Promise<void> {
  metrics.value = await send('/metrics')
    .then((response) => response.text())
    .then(readMetrics, () => null)
}
