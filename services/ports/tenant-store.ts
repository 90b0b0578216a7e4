import type { ApiKey, Plan, Tenant, TenantDeletion, TenantPolicy } from '../model/tenants/tenant.ts'

export interface TenantStore {
  create(tenant: Tenant): Promise<void>
  get(id: string): Promise<Tenant | null>
  list(): Promise<readonly Tenant[]>
  /** Replaces the whole policy; null when there is no such tenant. */
  setPolicy(id: string, policy: TenantPolicy): Promise<Tenant | null>
  /** Null when there is no such tenant. */
  rename(id: string, name: string): Promise<Tenant | null>
  /** Marks the tenant as deleted and makes it due in ten seconds, when caches of its keys have expired. Idempotent; null when there is no such tenant. */
  beginDeletion(id: string, now: number): Promise<Tenant | null>
  /** Records the progress of a deletion; `dueAt` null ends it, epoch ms. */
  noteDeletion(id: string, deletion: TenantDeletion, dueAt: number | null): Promise<void>
  /** Makes the tenant due when its stored export is to be deleted, epoch ms; null for none. False when the tenant was deleted. */
  noteExport(id: string, dueAt: number | null): Promise<boolean>
  /** Creates or replaces a plan. */
  putPlan(plan: Plan): Promise<void>
  getPlan(name: string): Promise<Plan | null>
  /** In the order of their names. */
  listPlans(): Promise<readonly Plan[]>
  removePlan(name: string): Promise<void>
  putKey(key: ApiKey): Promise<void>
  /** Finds a key by the SHA-256 (hex) of the presented key; revoked keys are returned too. */
  findKey(hash: string): Promise<ApiKey | null>
  /** Finds a key by its id; revoked keys are returned too. */
  getKey(id: string): Promise<ApiKey | null>
  /** Records a use of the key at `now` unless one since `now - LAST_USED_MS` is recorded. */
  touchKey(hash: string, now: number): Promise<void>
  /** All keys of all tenants, including revoked ones, oldest first. Eventually consistent. */
  listKeys(): Promise<readonly ApiKey[]>
  /** Revokes a key permanently; a second call keeps the first time. Null when no key has this id. */
  revokeKey(id: string, now: number): Promise<ApiKey | null>
}
