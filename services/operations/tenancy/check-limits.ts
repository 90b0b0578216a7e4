import { ServiceError } from '../../model/errors.ts'
import { LIMITS, type MemoryTier } from '../../model/limits.ts'
import { LANGUAGE_NAMES, languagesOf, type Language } from '../../model/containers/images.ts'
import { isSuspended, type Container } from '../../model/containers/container.ts'
import { snakeCase } from '../../model/snake-case.ts'
import { isBiggerTier, type ContainerLimits, type TenantLimits } from '../../model/tenants/tenant-limits.ts'
import type { ImageCatalogue } from '../../model/containers/images.ts'
import type { LimitReader } from './limit-reader.ts'
import type { ResourceCounts } from './resource-counts.ts'
import type { RequestLimiter } from './request-limiter.ts'

const tooMuch = (name: string, most: number | string, param: string): ServiceError =>
  new ServiceError(
    'limit_exceeded',
    `At most ${most} is allowed for this account (limit ${name}). Ask for less, or ask the operator for more.`,
    {
      param,
    },
  )

/** Throws ServiceError `limit_exceeded` above the account's limit, `unsupported_value` for a tier that no sandbox of this server can have. */
export async function checkMemory(
  { limits, config }: { readonly limits: LimitReader; readonly config: { readonly memoryTiers: readonly MemoryTier[] } },
  tenant: string,
  { tier, param = 'memory_limit' }: { readonly tier: MemoryTier; readonly param?: string },
): Promise<void> {
  if (!config.memoryTiers.includes(tier))
    throw new ServiceError('unsupported_value', `No sandbox here can have ${tier}. Choose one of ${config.memoryTiers.join(', ')}.`, {
      param,
    })
  const { memoryLimit } = await limits.of(tenant)
  if (isBiggerTier(tier, memoryLimit)) throw tooMuch('memory_limit', memoryLimit, param)
}

/** Throws ServiceError `unsupported_value` for an image that this server does not offer. */
export function checkImage(
  { images }: { readonly images: Pick<ImageCatalogue, 'defaultName' | 'names' | 'has' | 'resolve'> },
  name: string,
): void {
  if (images.has(name)) return
  throw new ServiceError(
    'unsupported_value',
    `There is no image ${name} here. Choose one of ${images.names.join(', ')}, or leave image out.`,
    {
      param: 'image',
    },
  )
}

/** Name of the image of a container's sandbox: its own, else its tenant's, else the server's default. */
export async function imageOf(
  deps: { readonly images: Pick<ImageCatalogue, 'defaultName' | 'names' | 'has' | 'resolve'>; readonly limits: LimitReader },
  container: Pick<Container, 'tenant' | 'image'>,
): Promise<string> {
  const policy = container.image === null ? await deps.limits.policyOf(container.tenant) : null
  return deps.images.resolve(container.image, policy?.image).name
}

/** As a sentence lists them: "Python, Bash and R". */
const listed = (languages: readonly Language[]): string =>
  languages
    .map((one) => LANGUAGE_NAMES[one])
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' and ')

/** Throws ServiceError `unsupported_value` for a language that the container's image lacks. */
export async function checkLanguage(
  deps: { readonly images: Pick<ImageCatalogue, 'defaultName' | 'names' | 'has' | 'resolve'>; readonly limits: LimitReader },
  container: Pick<Container, 'tenant' | 'image'>,
  language: Language,
): Promise<void> {
  const name = await imageOf(deps, container)
  const languages = languagesOf(name)
  if (languages.includes(language)) return
  const suitable = deps.images.names.filter((other) => languagesOf(other).includes(language))
  const advice =
    suitable.length === 0 ? 'This server offers no image that has it.' : `Create a container with the image ${suitable.join(' or ')}.`
  throw new ServiceError(
    'unsupported_value',
    `The image ${name} has no ${LANGUAGE_NAMES[language]}, only ${listed(languages)}. ${advice}`,
    {
      param: 'language',
    },
  )
}

/** Checks that a container's limits are at most those of its account. Throws ServiceError `limit_exceeded`. */
export function checkContainerLimits(limits: TenantLimits, asked: ContainerLimits): void {
  for (const [name, value] of Object.entries(asked)) {
    const most = limits[name as keyof ContainerLimits]
    if (value > most) throw tooMuch(snakeCase(name), most, `limits.${snakeCase(name)}`)
  }
}

/** The time limit of a call, seconds: the requested one, else the default, at most the account's maximum. Throws ServiceError `limit_exceeded`. */
export async function checkTimeout(
  { limits }: { readonly limits: LimitReader },
  tenant: string,
  asked: number | null | undefined,
): Promise<number> {
  const { timeoutSeconds } = await limits.of(tenant)
  if (asked !== null && asked !== undefined && asked > timeoutSeconds)
    throw tooMuch('timeout_seconds', `${timeoutSeconds} seconds`, 'timeout_seconds')
  return asked ?? Math.min(LIMITS.defaultTimeoutSeconds, timeoutSeconds)
}

/** A refused call may succeed after this, seconds, when another execution has ended. */
const RETRY_AFTER_SECONDS = 5

/** Throws ServiceError `concurrency_limit_reached` when the container needs a sandbox and its account is at its limit. */
export async function checkConcurrency({ counts }: { readonly counts: ResourceCounts }, container: Container): Promise<void> {
  const { tenant, sandboxId } = container
  if ((sandboxId !== null && !isSuspended(container)) || (await counts.liveContainers.admits(tenant))) return
  const value = await counts.liveContainers.limitOf(tenant)
  throw new ServiceError(
    'concurrency_limit_reached',
    `${value} containers of this account are in use, as many as it may have (limit live_containers). Delete one, or try again when one has been idle for ${LIMITS.hibernateAfterMinutes} minutes.`,
    { limit: { name: 'live_containers', value, retryAfterSeconds: RETRY_AFTER_SECONDS } },
  )
}

/** Throws ServiceError `too_many_queued` when the account has as many executions and commands that have not ended as it may. */
export async function checkQueuedJobs({ counts }: { readonly counts: ResourceCounts }, tenant: string): Promise<void> {
  if (await counts.queuedJobs.take(tenant)) return
  const value = await counts.queuedJobs.limitOf(tenant)
  throw new ServiceError(
    'too_many_queued',
    `This account has ${value} executions and commands that have not ended, its maximum (limit queued_jobs). Wait for one to end or cancel one.`,
    { limit: { name: 'queued_jobs', value, retryAfterSeconds: RETRY_AFTER_SECONDS } },
  )
}

/** Throws ServiceError `rate_limit_exceeded` when the tenant's token bucket is empty. */
export async function checkRequestRate({ requests }: { readonly requests: RequestLimiter }, tenant: string): Promise<void> {
  const refusal = await requests.take(tenant)
  if (refusal === null) return
  const { limit: value, retryAfterSeconds } = refusal
  throw new ServiceError(
    'rate_limit_exceeded',
    `This account sends more than ${value} requests per second (limit requests_per_second). Wait ${retryAfterSeconds} s, then send fewer.`,
    { limit: { name: 'requests_per_second', value, retryAfterSeconds } },
  )
}
