import { ServiceError } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import { newObjectKey } from '../../model/object-keys.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { checkSkillLimits } from './attach-skills.ts'
import { defaultVersionOf, skillFolder, type ContainerSkill } from '../../model/skills/skill.ts'
import type { Caller } from '../../model/tenants/tenant.ts'
import { skillOf } from '../access.ts'
import type { Table } from '../../ports/table.ts'
import { makeSkill } from './make-skill.ts'
import { readArchive } from './read-archive.ts'
import { findVersion } from './skill-versions.ts'

/** A skill that a request names: a stored one, or one whose archive the request contains. */
export type WantedSkill =
  | { readonly type: 'skill_reference'; readonly skill_id: string; readonly version?: string | null | undefined }
  | { readonly type: 'inline'; readonly name: string; readonly description: string; readonly source: { readonly data: string } }

/** Stores bundles of inline skills below the prefix of the container or response `ownerId`. `discard` removes them when the request fails later. */
export class InlineBundles {
  readonly #objects: Pick<ObjectStore, 'put' | 'delete'>
  readonly #tenant: string
  readonly #ownerId: string
  readonly #keys: string[] = []

  constructor({ deps, caller }: { readonly deps: { readonly objects: ObjectStore }; readonly caller: Caller }, ownerId: string) {
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
  { deps, caller }: { readonly deps: { readonly table: Pick<Table, 'skills'> }; readonly caller: Caller },
  skills: readonly WantedSkill[] | null | undefined,
  { param, inline }: { readonly param: string; readonly inline: InlineBundles },
): Promise<readonly ContainerSkill[]> {
  const resolved: ContainerSkill[] = []
  for (const [index, wanted] of (skills ?? []).entries()) {
    const at = `${param}[${index}]`
    if (wanted.type === 'inline') resolved.push(await keepInline(wanted, `${at}.source.data`, inline))
    else {
      const skill = await skillOf({ deps, caller }, wanted.skill_id, { scope: 'run', param: `${at}.skill_id` })
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
  { name, source }: Extract<WantedSkill, { readonly type: 'inline' }>,
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
