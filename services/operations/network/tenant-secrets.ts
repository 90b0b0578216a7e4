import { ServiceError } from '../../model/errors.ts'
import { SECRET_BOUNDS, SHARED, type NewSecret, type StoredSecret } from '../../model/network/secret.ts'
import type { Caller } from '../../model/tenants/tenant.ts'
import { requireScope } from '../access.ts'
import { checkValue, networkOf, storeSecrets, type PolicyPorts } from './new-policy.ts'

interface Reader {
  readonly deps: PolicyPorts
  readonly caller: Caller
}

/** Secrets that a key may name: those of its end user, or of the tenant itself. An end user's key sees no secret of the tenant. */
export async function secretsOf({ deps, caller }: Reader): Promise<readonly StoredSecret[]> {
  requireScope(caller, 'secrets')
  return (await deps.table.secrets.list(caller.tenant, SHARED)).filter(({ subject }) => subject === caller.subject)
}

const secretMissing = (name: string): ServiceError =>
  new ServiceError(
    'secret_not_found',
    `No secret ${JSON.stringify(name.slice(0, 80))} exists. Store it with PUT /v1/secrets/{secret_name}.`,
  )

/** Throws ServiceError `secret_not_found`. */
export async function secretOf(reader: Reader, name: string): Promise<StoredSecret> {
  const found = (await secretsOf(reader)).find((secret) => secret.name === name)
  if (found === undefined) throw secretMissing(name)
  return found
}

/** Stores a secret, or replaces its value and its hosts. Containers get the new value with their next execution. Throws ServiceError. */
export async function putSecret(reader: Reader, secret: NewSecret): Promise<StoredSecret> {
  const { deps, caller } = reader
  const { tenant, subject } = caller
  networkOf(deps, 'value')
  checkValue(secret.name, secret.value, 'value')
  const before = (await secretsOf(reader)).find(({ name }) => name === secret.name)
  const [row] = await storeSecrets(deps, { tenant, subject, owner: SHARED, ...(before && { before }) }, [secret])
  if (row === undefined) throw new Error('A secret was not stored')
  if (before !== undefined) return row
  // Counted after the write, so that simultaneous calls cannot exceed the number together.
  const { length } = await deps.table.secrets.list(tenant, SHARED)
  if (length <= SECRET_BOUNDS.perTenant) return row
  await deps.table.secrets.remove(row)
  throw new ServiceError('limit_exceeded', `This account has ${SECRET_BOUNDS.perTenant} secrets, the maximum. Delete one.`)
}

/** Throws ServiceError `secret_not_found`. */
export async function deleteSecret(reader: Reader, name: string): Promise<void> {
  requireScope(reader.caller, 'secrets')
  const { tenant, subject } = reader.caller
  if (!(await reader.deps.table.secrets.remove({ tenant, subject, owner: SHARED, name }))) throw secretMissing(name)
}
