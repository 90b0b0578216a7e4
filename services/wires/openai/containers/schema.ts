import * as z from 'zod'
import { boundedList, openObject } from '../../../model/bounded-schemas.ts'
import { answerSchema, lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { wholeCharacters } from '../../../http/schemas.ts'
import { Skills } from '../skills/skill-references.ts'
import { containerStatus, type Container as ContainerRow } from '../../../model/containers/container.ts'
import { IMAGE_NAME } from '../../../model/containers/images.ts'
import { LIMITS, MEMORY_TIERS } from '../../../model/limits.ts'
import { skillPath } from '../../../model/skills/skill.ts'
import { HostPattern, POLICY_BOUNDS, SecretName } from '../../../model/network/policy-schema.ts'
import { hostsOf, NO_NETWORK } from '../../../model/network/policy.ts'
import { hasNetwork, policyOf } from '../../../model/network/secret.ts'
import type { WantedNetwork } from '../../../operations/network/new-policy.ts'
import { NetworkBody } from '../../../http/network-body.ts'
import { snakeCase } from '../../../model/snake-case.ts'
import { EXECUTION_LIMITS, NUMERIC_LIMITS, SANDBOX_LIMITS, type ContainerLimits } from '../../../model/tenants/tenant-limits.ts'

const bytesOf = (text: string): number => Buffer.byteLength(text)

export const MemoryLimit = lazySchema(() => z.enum(MEMORY_TIERS))

const DomainSecret = lazySchema(() =>
  openObject({ domain: HostPattern(), name: SecretName(), value: z.string().min(1, 'give a value').max(LIMITS.maxCodeBytes) }),
)

export const NetworkPolicy = lazySchema(() =>
  z
    .union([
      openObject({ type: z.literal('disabled') }),
      openObject({
        type: z.literal('allowlist'),
        allowed_domains: boundedList(HostPattern(), { min: 1, max: POLICY_BOUNDS.rules }),
        domain_secrets: boundedList(DomainSecret(), { max: POLICY_BOUNDS.secrets }).nullish(),
      }),
    ])
    .openapi({
      description:
        'Hosts that code may reach, within what the operator allows. Code sees a placeholder in the environment variable `name`; the value is put into headers of requests to `domain` only. Without it the default of the account applies, in most cases no network.',
    }),
)
export type NetworkPolicy = Described<typeof NetworkPolicy>

const NAMES = Object.keys({ ...EXECUTION_LIMITS, ...SANDBOX_LIMITS }) as (keyof ContainerLimits)[]

/** Numbers by the names of `/v1/limits`. An unknown name is refused, because it would have no effect. */
export const ContainerLimitsBody = lazySchema(() =>
  z
    .strictObject(
      Object.fromEntries(
        NAMES.map((name) => {
          const { min, max } = NUMERIC_LIMITS[name] as { min: number; max: number }
          return [snakeCase(name), z.int().min(min, `give at least ${min}`).max(max, `give at most ${max}`).optional()]
        }),
      ),
    )
    .openapi('ContainerLimits', {
      description: 'Limits below those of the account, by the names of `/v1/limits`. An absent limit has the value of the account.',
    }),
)

/** An unknown field is refused, because a misspelt `image` or `limits` would otherwise give another container than the caller wants. */
export const CreateContainer = lazySchema(() =>
  z
    .strictObject({
      name: z
        .string()
        .min(1, 'give a name')
        .refine(...wholeCharacters)
        .refine((name) => bytesOf(name) <= LIMITS.maxContainerNameBytes, `give a name of at most ${LIMITS.maxContainerNameBytes} bytes`),
      expires_after: z
        .object({
          anchor: z.literal('last_active_at', 'the only anchor is "last_active_at"'),
          minutes: z.int().min(1, 'give at least 1 minute').max(LIMITS.maxIdleMinutes, `give at most ${LIMITS.maxIdleMinutes} minutes`),
        })
        .nullish()
        .openapi({
          description: 'After this idle time the status says `expired`. Files and variables stay, and the next call wakes the container.',
        }),
      file_ids: boundedList(z.string().max(200), { max: LIMITS.maxFileIds })
        .nullish()
        .openapi({ description: 'Files to copy in: `file-…` of `/v1/files`, or `cfile_…` of other containers.' }),
      memory_limit: MemoryLimit().nullish(),
      limits: ContainerLimitsBody().nullish(),
      image: z.string().regex(IMAGE_NAME, 'give the name of an image, such as standard').nullish().openapi({
        description: 'What the sandbox has installed: `slim`, `standard`, `full` or an image of the operator.',
        example: 'standard',
      }),
      network_policy: NetworkPolicy().nullish(),
      network: NetworkBody()
        .nullish()
        .openapi({ description: 'The policy in the form of `PUT /v1/containers/{container_id}/network`, instead of `network_policy`.' }),
      skills: Skills().nullish().openapi({ description: 'Skills that its sandboxes have in `/mnt/skills`, read-only.' }),
    })
    .openapi('CreateContainer'),
)

export const Container = answerSchema(() =>
  z
    .object({
      id: z.string().openapi({ example: 'cntr_01kajv9h2s8p0ww3d4dq4cs1zt' }),
      object: z.literal('container'),
      created_at: z.int().openapi({ description: 'Unix seconds.' }),
      name: z.string(),
      status: z
        .enum(['running', 'expired'])
        .openapi({ description: '`expired` says that the sandbox may be gone; naming the container wakes it.' }),
      last_active_at: z.int(),
      expires_after: z.object({ anchor: z.literal('last_active_at'), minutes: z.int() }),
      memory_limit: MemoryLimit(),
      image: z.string().openapi({ description: 'The image of its next sandbox.', example: 'standard' }),
      limits: z
        .record(z.string(), z.int())
        .optional()
        .openapi({ description: 'The limits of the container, if they are below those of the account.' }),
      network_policy: z
        .object({ type: z.enum(['disabled', 'allowlist']), allowed_domains: z.array(z.string()).optional() })
        .openapi({ description: 'Its hosts without their rules; `GET /v1/containers/{container_id}/network` has them.' }),
      skills: z
        .array(z.object({ name: z.string(), description: z.string(), path: z.string() }))
        .optional()
        .openapi({ description: 'Its skills, if it has any; `path` is the folder in its sandboxes.' }),
    })
    .openapi('Container'),
)

export const renderContainer = (row: ContainerRow, image: string, now: number): Described<typeof Container> => ({
  id: row.id,
  object: 'container',
  created_at: Math.floor(row.createdAt / 1000),
  name: row.name,
  status: containerStatus(row, now),
  last_active_at: Math.floor(row.lastActiveAt / 1000),
  expires_after: { anchor: 'last_active_at', minutes: row.expiresAfterMinutes },
  memory_limit: row.memoryTier,
  image,
  ...(row.limits && { limits: renderContainerLimits(row.limits) }),
  network_policy: renderNetworkPolicy(row),
  ...(row.skills && { skills: row.skills.map(({ name, description, folder }) => ({ name, description, path: skillPath({ folder }) })) }),
})

export const containerLimitsOf = (body: Readonly<Record<string, unknown>> | null | undefined): ContainerLimits | undefined => {
  if (body === null || body === undefined) return undefined
  const given = NAMES.flatMap((name) => {
    const value = body[snakeCase(name)]
    return typeof value === 'number' ? [[name, value] as const] : []
  })
  return given.length === 0 ? undefined : Object.fromEntries(given)
}

export const renderContainerLimits = (limits: ContainerLimits): Record<string, number> =>
  Object.fromEntries(Object.entries(limits).map(([name, value]) => [snakeCase(name), value]))

function renderNetworkPolicy(row: ContainerRow): Described<typeof Container>['network_policy'] {
  return hasNetwork(row) ? { type: 'allowlist', allowed_domains: [...hostsOf(policyOf(row))] } : { type: 'disabled' }
}

/** Undefined when the request says nothing about the network. */
export function wantedNetwork(policy: NetworkPolicy | null | undefined): WantedNetwork | undefined {
  if (policy === null || policy === undefined) return undefined
  if (policy.type === 'disabled') return { policy: NO_NETWORK, secrets: [] }
  const given = policy.domain_secrets ?? []
  const allow = [...new Set(policy.allowed_domains)].map((host) => ({ host }))
  const secrets = given.map(({ domain, name, value }) => ({ name, hosts: [domain], value }))
  return { policy: { allow, presets: [], ...(given.length > 0 && { secrets: given.map(({ name }) => name) }) }, secrets }
}
