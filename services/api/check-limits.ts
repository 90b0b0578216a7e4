import { ServiceError } from '../core/errors.ts'
import { LIMITS, type MemoryTier } from '../core/limits.ts'
import { atConcurrencyLimit } from '../core/sandboxes/concurrency-limit.ts'
import type { Container } from '../core/containers/container.ts'
import { isBiggerTier, limitName, type ContainerLimits, type TenantLimits } from '../core/tenants/tenant-limits.ts'
import type { ApiDeps } from './deps.ts'

const tooMuch = (name: string, most: number | string, param: string): ServiceError =>
  new ServiceError(
    'limit_exceeded',
    `At most ${most} is allowed for this account (limit ${name}). Ask for less, or ask the operator for more.`,
    {
      param,
    },
  )

/** Throws ServiceError `limit_exceeded` for more than the account has, `unsupported_value` for a tier that no sandbox here can have. */
export async function checkMemory(
  { limits, config }: Pick<ApiDeps, 'limits' | 'config'>,
  tenant: string,
  tier: MemoryTier,
  param = 'memory_limit',
): Promise<void> {
  if (!config.memoryTiers.includes(tier))
    throw new ServiceError('unsupported_value', `No sandbox here can have ${tier}. Choose one of ${config.memoryTiers.join(', ')}.`, {
      param,
    })
  const { memoryLimit } = await limits.of(tenant)
  if (isBiggerTier(tier, memoryLimit)) throw tooMuch('memory_limit', memoryLimit, param)
}

/** Throws ServiceError `unsupported_value` for an image that this server does not offer. */
export function checkImage({ images }: Pick<ApiDeps, 'images'>, name: string): void {
  if (images.has(name)) return
  throw new ServiceError(
    'unsupported_value',
    `There is no image ${name} here. Choose one of ${images.names.join(', ')}, or leave image out.`,
    {
      param: 'image',
    },
  )
}

/** The name of the image that a container's sandbox gets: its own, else its tenant's, else the server's default. */
export async function imageOf(deps: Pick<ApiDeps, 'images' | 'limits'>, container: Pick<Container, 'tenant' | 'image'>): Promise<string> {
  const policy = container.image === null ? await deps.limits.policyOf(container.tenant) : null
  return deps.images.resolve(container.image, policy?.image).name
}

/** A container asks for less than its account has, never for more. Throws ServiceError `limit_exceeded`. */
export function checkContainerLimits(limits: TenantLimits, asked: ContainerLimits): void {
  for (const [name, value] of Object.entries(asked)) {
    const most = limits[name as keyof ContainerLimits]
    if (value > most) throw tooMuch(limitName(name), most, `limits.${limitName(name)}`)
  }
}

/** How long a call may let code run, seconds: what it asks for, else the usual as far as the account has it. Throws ServiceError `limit_exceeded`. */
export async function checkTimeout({ limits }: Pick<ApiDeps, 'limits'>, tenant: string, asked: number | null | undefined): Promise<number> {
  const { timeoutSeconds } = await limits.of(tenant)
  if (asked !== null && asked !== undefined && asked > timeoutSeconds)
    throw tooMuch('timeout_seconds', `${timeoutSeconds} seconds`, 'timeout_seconds')
  return asked ?? Math.min(LIMITS.defaultTimeoutSeconds, timeoutSeconds)
}

/** Throws ServiceError `concurrency_limit_reached` when the container needs a sandbox and its account has as many as it may have. */
export async function checkConcurrency({ table, limits }: Pick<ApiDeps, 'table' | 'limits'>, container: Container): Promise<void> {
  if (container.sandboxId !== null) return
  const tenantLimits = await limits.of(container.tenant)
  if (!(await atConcurrencyLimit(table.sandboxes, container.tenant, tenantLimits))) return
  throw new ServiceError(
    'concurrency_limit_reached',
    `${tenantLimits.liveContainers} containers of this account are in use, as many as it may have (limit live_containers). Delete one, or try again when one has been idle for ${LIMITS.hibernateAfterMinutes} minutes.`,
  )
}

/** Throws ServiceError `rate_limit_exceeded` when the tenant's token bucket is empty. */
export async function checkRequestRate({ requests }: Pick<ApiDeps, 'requests'>, tenant: string): Promise<void> {
  const refusal = await requests.take(tenant)
  if (refusal === null) return
  const { limit: value, retryAfterSeconds } = refusal
  throw new ServiceError(
    'rate_limit_exceeded',
    `This account sends more than ${value} requests per second (limit requests_per_second). Wait ${retryAfterSeconds} s, then send fewer.`,
    { limit: { name: 'requests_per_second', value, retryAfterSeconds } },
  )
}
