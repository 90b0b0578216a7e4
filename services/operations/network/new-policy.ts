import { ServiceError } from '../../model/errors.ts'
import { coversHost } from '../../model/network/host.ts'
import { hostsOf, hostsOutside, isEmptyPolicy, NO_NETWORK, type NetworkCeiling, type NetworkPolicy } from '../../model/network/policy.ts'
import { SECRET_BOUNDS, secretContext, secretNamesOf, SHARED, type NewSecret, type StoredSecret } from '../../model/network/secret.ts'
import { SECRET_NAME, smallPolicy } from '../../model/network/policy-schema.ts'
import type { Clock } from '../../ports/clock.ts'
import type { NetworkPorts } from '../../ports/network-gateway.ts'
import type { Table } from '../../ports/table.ts'
import type { LimitReader } from '../tenancy/limit-reader.ts'

export interface PolicyPorts {
  readonly table: Pick<Table, 'secrets'>
  readonly limits: Pick<LimitReader, 'policyOf'>
  readonly clock: Clock
  /** Undefined on a server without a gateway. */
  readonly network?: NetworkPorts | undefined
}

/** A policy with the secrets that only its container gets. */
export interface WantedNetwork {
  readonly policy: NetworkPolicy
  readonly secrets: readonly NewSecret[]
}

interface Owner {
  readonly tenant: string
  readonly subject: string | null
}

const NOTHING: NetworkCeiling = { allow: [], presets: [] }
const MAX_NAMED = 10

export const ceilingOf = async ({ limits }: Pick<PolicyPorts, 'limits'>, tenant: string): Promise<NetworkCeiling> =>
  (await limits.policyOf(tenant)).network?.ceiling ?? NOTHING

/** The policy of a container for which the client requests none: the operator's default for the tenant. */
export async function defaultPolicy({ limits, network }: Pick<PolicyPorts, 'limits' | 'network'>, tenant: string): Promise<NetworkPolicy> {
  return (network && (await limits.policyOf(tenant)).network?.default) ?? NO_NETWORK
}

/**
 * Refuses what a container may not have. `param` names the policy in the request. Throws ServiceError `unsupported_value` on a server without a gateway,
 * `limit_exceeded` for a large policy, `network_not_allowed` for hosts outside the tenant's ceiling, `invalid_request` for secrets that contradict the policy and `secret_not_found`.
 */
export async function checkNetwork(
  ports: PolicyPorts,
  { tenant, subject }: Owner,
  { wanted: { policy, secrets }, param }: { readonly wanted: WantedNetwork; readonly param: string },
): Promise<void> {
  if (isEmptyPolicy(policy) && secrets.length === 0) return
  networkOf(ports, param)
  if (!smallPolicy[0](policy)) throw new ServiceError('limit_exceeded', `'${param}': ${smallPolicy[1]}.`, { param })
  const outside = hostsOutside(policy, await ceilingOf(ports, tenant))
  if (outside.length > 0)
    throw new ServiceError(
      'network_not_allowed',
      `The operator of this service does not allow ${nameSome(outside)} to this account. Leave the host out, or ask the operator to allow it (docs/network.md).`,
      { param },
    )
  checkSecrets(secrets, { policy, param })
  const own = new Set(secrets.map(({ name }) => name))
  const others = secretNamesOf(policy).filter((name) => !own.has(name))
  if (others.length === 0) return
  const stored = (await ports.table.secrets.list(tenant, SHARED)).filter((secret) => secret.subject === subject).map(({ name }) => name)
  const missing = others.find((name) => !stored.includes(name))
  if (missing !== undefined)
    throw new ServiceError('secret_not_found', `No secret ${missing} exists. Store it with PUT /v1/secrets/${missing}, or leave it out.`, {
      param,
    })
}

/** What a new container may reach: the checked request, or the default of the tenant when the client requests nothing. Throws ServiceError. */
export async function networkForNew(
  ports: PolicyPorts,
  owner: Owner,
  { wanted, param }: { readonly wanted: WantedNetwork | undefined; readonly param: string },
): Promise<WantedNetwork> {
  if (wanted === undefined) return { policy: await defaultPolicy(ports, owner.tenant), secrets: [] }
  await checkNetwork(ports, owner, { wanted, param })
  return wanted
}

/** Throws ServiceError `unsupported_value` on a server without a gateway. */
export function networkOf({ network }: Pick<PolicyPorts, 'network'>, param: string): NetworkPorts {
  if (network !== undefined) return network
  throw new ServiceError(
    'unsupported_value',
    'This server gives sandboxes no network. Leave the policy out. The operator of a server on one machine enables networks with CELLBLOCK_NETWORK=on, that of a deployment in AWS with network.gateway in cdk.json (docs/network.md).',
    { param },
  )
}

function checkSecrets(secrets: readonly NewSecret[], { policy, param }: { readonly policy: NetworkPolicy; readonly param: string }): void {
  const refuse = (what: string): never => {
    throw new ServiceError('invalid_request', what, { param })
  }
  const names = new Set<string>()
  const allowed = hostsOf(policy)
  for (const { name, hosts, value } of secrets) {
    if (!SECRET_NAME.test(name)) refuse(`${JSON.stringify(name.slice(0, 80))} is no name of a secret. Use letters, digits and underscores.`)
    if (names.has(name)) refuse(`Two secrets have the name ${name}. Rename one of them.`)
    names.add(name)
    checkValue(name, value, param)
    const outside = hosts.find((host) => !allowed.some((pattern) => coversHost(pattern, host)))
    if (outside !== undefined)
      refuse(`The secret ${name} is for ${outside}, which the policy does not allow. Allow this host, or leave the secret out.`)
  }
}

/** Throws ServiceError `limit_exceeded` or `invalid_request` for a value that no header can have. */
export function checkValue(name: string, value: string, param: string): void {
  if (value.length > SECRET_BOUNDS.valueLength)
    throw new ServiceError('limit_exceeded', `The value of ${name} is longer than ${SECRET_BOUNDS.valueLength} characters.`, { param })
  if (!/^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(value))
    throw new ServiceError(
      'invalid_request',
      `The value of ${name} cannot be part of a header. Give printable ASCII characters on one line.`,
      { param },
    )
}

const nameSome = (hosts: readonly string[]): string =>
  hosts.length > MAX_NAMED ? `${hosts.slice(0, MAX_NAMED).join(', ')} and ${hosts.length - MAX_NAMED} more` : hosts.join(', ')

/** Encrypts secrets and stores them for an owner: the tenant, a container, or a response that will give them to its container. */
export async function storeSecrets(
  { table, clock, network }: PolicyPorts,
  {
    tenant,
    subject,
    owner,
    expiresAt,
    before,
  }: Owner & { readonly owner: string; readonly expiresAt?: number; readonly before?: StoredSecret },
  secrets: readonly NewSecret[],
): Promise<readonly StoredSecret[]> {
  if (secrets.length === 0) return []
  const { cipher } = networkOf({ network }, 'network')
  const updatedAt = clock.now()
  const { createdAt = updatedAt, lastUsedAt = null } = before ?? {}
  const rows = await Promise.all(
    secrets.map(async ({ name, hosts, value }): Promise<StoredSecret> => {
      const sealed = await cipher.seal(value, secretContext({ tenant, name }))
      return { v: 1, tenant, owner, subject, name, hosts, sealed, createdAt, updatedAt, lastUsedAt }
    }),
  )
  for (const row of rows) await table.secrets.put(row, expiresAt)
  return rows
}

/** Gives a container the secrets of a response. Both are encrypted for the tenant and the name, so they are copied as they are. A repetition changes nothing. */
export async function moveSecrets(
  { secrets }: Pick<Table, 'secrets'>,
  { tenant, from, to }: { readonly tenant: string; readonly from: string; readonly to: string },
): Promise<void> {
  for (const secret of await secrets.list(tenant, from)) {
    await secrets.put({ ...secret, owner: to })
    await secrets.remove(secret)
  }
}

/** Removes the secrets of a container, except those with these names. */
export async function removeSecrets(
  { secrets }: Pick<Table, 'secrets'>,
  { tenant, owner, except = [] }: { readonly tenant: string; readonly owner: string; readonly except?: readonly string[] },
): Promise<void> {
  for (const secret of await secrets.list(tenant, owner)) if (!except.includes(secret.name)) await secrets.remove(secret)
}
