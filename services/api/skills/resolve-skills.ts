import { z } from '@hono/zod-openapi'
import { lazySchema, type Described } from '../http/lazy-schema.ts'
import { ServiceError } from '../../core/errors.ts'
import { LIMITS } from '../../core/limits.ts'
import { newObjectKey } from '../../core/object-keys.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'
import { checkSkillLimits } from '../../core/skills/attach-skills.ts'
import { defaultVersionOf, skillFolder, type ContainerSkill } from '../../core/skills/skill.ts'
import type { Caller } from '../../core/tenants/tenant.ts'
import { skillOf } from '../access.ts'
import type { ApiDeps } from '../deps.ts'
import { atMost } from '../http/schemas.ts'
import { makeSkill } from './make-skill.ts'
import { readArchive } from './read-archive.ts'
import { findVersion } from './skill-versions.ts'

const SkillReference = lazySchema(() =>
  z
    .object({
      type: z.literal('skill_reference'),
      skill_id: z.string().max(200),
      version: z
        .string()
        .max(40)
        .nullish()
        .openapi({ description: 'A number or `latest`; the default version without it.', example: 'latest' }),
    })
    .openapi('SkillReference'),
)

const InlineSkill = lazySchema(() =>
  z
    .object({
      type: z.literal('inline'),
      name: z.string().max(64),
      description: z.string().max(4_096),
      source: z.object({
        type: z.literal('base64', 'the only type is "base64"'),
        media_type: z.literal('application/zip', 'the only media type is "application/zip"'),
        data: z.string().openapi({ description: `A zip archive in base64, at most ${LIMITS.maxSkillArchiveBytes} bytes.` }),
      }),
    })
    .openapi('InlineSkill'),
)

/** Skills for a container, as OpenAI's wire names them. */
export const Skills = lazySchema(() =>
  atMost(
    LIMITS.maxSkillsPerContainer,
    z.array(z.discriminatedUnion('type', [SkillReference(), InlineSkill()], 'give the type "skill_reference" or "inline"')),
  ),
)
export type Skills = Described<typeof Skills>

/** Stores bundles of inline skills below the prefix of the container or response `ownerId`. `discard` removes them when the request fails later. */
export class InlineBundles {
  readonly #objects: Pick<ObjectStore, 'put' | 'delete'>
  readonly #tenant: string
  readonly #ownerId: string
  readonly #keys: string[] = []

  constructor({ deps, caller }: { readonly deps: Pick<ApiDeps, 'objects'>; readonly caller: Caller }, ownerId: string) {
    this.#objects = deps.objects
    this.#tenant = caller.tenant
    this.#ownerId = ownerId
  }

  async keep(bundle: Uint8Array): Promise<string> {
    const key = newObjectKey(this.#tenant, 'skills', this.#ownerId)
    this.#keys.push(key)
    await this.#objects.put(key, bundle, { contentType: 'application/octet-stream' })
    return key
  }

  /** Removes the bundles, except those that a container has. */
  async discard(kept: readonly ContainerSkill[] = []): Promise<void> {
    const unused = this.#keys.filter((key) => !kept.some(({ objectKey }) => objectKey === key))
    await Promise.all(unused.map((key) => this.#objects.delete(key)))
  }
}

/** The versions that a request means, for `attachSkills`. Throws ServiceError whose `param` begins with `param`. */
export async function resolveSkills(
  { deps, caller }: { readonly deps: Pick<ApiDeps, 'table'>; readonly caller: Caller },
  skills: Skills | null | undefined,
  param: string,
  inline: InlineBundles,
): Promise<readonly ContainerSkill[]> {
  const resolved: ContainerSkill[] = []
  for (const [index, wanted] of (skills ?? []).entries()) {
    const at = `${param}[${index}]`
    if (wanted.type === 'inline') resolved.push(await keepInline(wanted, `${at}.source.data`, inline))
    else {
      const skill = await skillOf({ deps, caller }, wanted.skill_id, `${at}.skill_id`)
      const { name, description, sha256, objectKey, bytes } =
        typeof wanted.version === 'string' ? findVersion(skill, wanted.version, `${at}.version`) : defaultVersionOf(skill)
      resolved.push({ name, description, folder: skillFolder(name, sha256), objectKey, bytes })
    }
    checkSkillLimits(resolved, param)
  }
  const folders = new Map(resolved.map((skill) => [skill.folder, skill]))
  return [...folders.values()]
}

async function keepInline(
  { name, source }: Extract<Skills[number], { readonly type: 'inline' }>,
  param: string,
  inline: InlineBundles,
): Promise<ContainerSkill> {
  const archive = Buffer.from(source.data, 'base64')
  if (archive.byteLength > LIMITS.maxSkillArchiveBytes)
    throw new ServiceError(
      'limit_exceeded',
      `The archive of a skill has at most ${LIMITS.maxSkillArchiveBytes} bytes. Leave out what a task does not need.`,
      {
        param,
      },
    )
  const made = await makeSkill(await readArchive(archive, param), param)
  if (made.name !== name)
    throw new ServiceError(
      'invalid_request',
      `The skill is named ${JSON.stringify(name)} in the request and ${JSON.stringify(made.name)} in its SKILL.md. Use one name in both.`,
      { param },
    )
  const objectKey = await inline.keep(made.bundle)
  return { name, description: made.description, folder: skillFolder(name, made.sha256), objectKey, bytes: made.bundle.byteLength }
}

/** The skills of a request without the bytes of inline ones, for the stored request and its echo. */
export const withoutInlineData = (skills: unknown): unknown =>
  Array.isArray(skills) ? skills.map((skill) => (isInline(skill) ? { ...skill, source: { ...skill.source, data: '' } } : skill)) : skills

const isInline = (skill: unknown): skill is { readonly source: Readonly<Record<string, unknown>> } =>
  typeof skill === 'object' && skill !== null && typeof (skill as { source?: unknown }).source === 'object'
