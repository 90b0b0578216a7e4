import { changeByCompareAndSet } from '../../model/change-by-compare-and-set.ts'
import { ServiceError } from '../../model/errors.ts'
import { newId } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import { newObjectKey, objectPrefix } from '../../model/object-keys.ts'
import { latestVersion, versionOf, type Skill, type SkillVersion } from '../../model/skills/skill.ts'
import type { Caller } from '../../model/tenants/tenant.ts'
import { skillOf } from '../access.ts'
import type { Table } from '../../ports/table.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Clock } from '../../ports/clock.ts'
import type { MadeSkill } from './make-skill.ts'

interface SkillCaller {
  readonly deps: { readonly table: Pick<Table, 'skills'>; readonly objects: ObjectStore; readonly clock: Clock }
  readonly caller: Caller
}

/** Concurrent changes of the same skill may refuse a write this often. */

/** Stores a skill with its first version. `id` was claimed; null when an earlier call created it. */
export async function createSkill({ deps, caller }: SkillCaller, made: MadeSkill, id: string = newId('skill')): Promise<Skill | null> {
  const version = await storeVersion(deps, { tenant: caller.tenant, skillId: id, number: 1 }, made)
  const skill: Skill = {
    v: 1,
    tenant: caller.tenant,
    subject: caller.subject,
    id,
    createdAt: version.createdAt,
    versions: [version],
    defaultVersion: 1,
    nextNumber: 2,
    revision: 0,
  }
  try {
    if (await deps.table.skills.create(skill)) return skill
  } catch (error) {
    // A failed write may have succeeded. The row is removed first, so that no row exists without its bytes.
    await deps.table.skills.remove(caller.tenant, id)
    await deps.objects.delete(version.objectKey)
    throw error
  }
  await deps.objects.delete(version.objectKey)
  return null
}

/**
 * Adds a version; with `isDefault` references without a version mean it from now on. A repetition of the call, which has the same `claim`, finds
 * the version that the first one added.
 */
export async function addVersion(
  call: SkillCaller,
  skill: Skill,
  { made, isDefault, claim }: { readonly made: MadeSkill; readonly isDefault: boolean; readonly claim: string },
): Promise<{ readonly skill: Skill; readonly version: SkillVersion }> {
  const { deps } = call
  const ofClaim = ({ versions }: Skill): SkillVersion | undefined => versions.find((version) => version.claim === claim)
  const earlier = ofClaim(skill)
  if (earlier !== undefined) return { skill, version: earlier }
  const stored = await storeVersion(deps, { tenant: skill.tenant, skillId: skill.id, number: skill.nextNumber }, made)
  try {
    let added = stored
    const changed = await changeSkill(call, skill, (row) => {
      const concurrent = ofClaim(row)
      if (concurrent !== undefined) {
        added = concurrent
        return row
      }
      if (row.versions.length >= LIMITS.maxSkillVersions)
        throw new ServiceError('limit_exceeded', `A skill has at most ${LIMITS.maxSkillVersions} versions. Delete old ones first.`, {
          param: 'files',
        })
      added = { ...stored, number: row.nextNumber, claim }
      return {
        versions: [...row.versions, added],
        defaultVersion: isDefault ? added.number : row.defaultVersion,
        nextNumber: row.nextNumber + 1,
      }
    })
    if (added.objectKey !== stored.objectKey) await deps.objects.delete(stored.objectKey)
    return { skill: changed, version: added }
  } catch (error) {
    await deps.objects.delete(stored.objectKey)
    throw error
  }
}

/** Throws ServiceError `skill_not_found` for a version that does not exist. */
export const setDefaultVersion = (call: SkillCaller, skill: Skill, number: number): Promise<Skill> =>
  changeSkill(call, skill, (row) => {
    if (versionOf(row, number) === null) throw versionMissing(row.id, String(number), 'default_version')
    return { versions: row.versions, defaultVersion: number, nextNumber: row.nextNumber }
  })

/** Removes a version. The default one stays while others exist; the last one is removed with its skill. */
export async function deleteVersion(call: SkillCaller, skill: Skill, number: number): Promise<void> {
  const { deps } = call
  let objectKey = ''
  await changeSkill(call, skill, (row) => {
    ;({ objectKey } = findVersion(row, String(number)))
    if (row.defaultVersion === number)
      throw new ServiceError(
        'conflict',
        row.versions.length === 1
          ? `Version ${number} is the only one of its skill. Delete the skill with DELETE /v1/skills/${row.id}.`
          : `Version ${number} is the default version. Set another one with POST /v1/skills/${row.id} first.`,
      )
    return {
      versions: row.versions.filter((version) => version.number !== number),
      defaultVersion: row.defaultVersion,
      nextNumber: row.nextNumber,
    }
  })
  await deps.objects.delete(objectKey)
}

/** The row first, so that no version is added to it meanwhile. Containers have copies. */
export async function deleteSkill({ deps }: SkillCaller, { tenant, id }: Skill): Promise<void> {
  await deps.table.skills.remove(tenant, id)
  await deps.objects.deletePrefix(objectPrefix(tenant, id))
}

/** A version by its number or `latest`. Throws ServiceError `skill_not_found`. */
export function findVersion(skill: Skill, wanted: string, param?: string): SkillVersion {
  const found = wanted === 'latest' ? latestVersion(skill) : /^[1-9]\d{0,8}$/.test(wanted) ? versionOf(skill, Number(wanted)) : null
  if (found === null) throw versionMissing(skill.id, wanted, param)
  return found
}

const versionMissing = (id: string, version: string, param?: string): ServiceError =>
  new ServiceError(
    'skill_not_found',
    `The skill ${id} has no version ${JSON.stringify(version.slice(0, 40))}. List them with GET /v1/skills/${id}/versions.`,
    param === undefined ? {} : { param },
  )

/** One conditional write; after a concurrent change the decision is made again with the new row. */
async function changeSkill(
  call: SkillCaller,
  skill: Skill,
  decide: (row: Skill) => Pick<Skill, 'versions' | 'defaultVersion' | 'nextNumber'>,
): Promise<Skill> {
  let row: Skill | null = skill
  return changeByCompareAndSet(
    async () => {
      row ??= await skillOf(call, skill.id, 'files')
      const changed = await call.deps.table.skills.change(row, decide(row))
      row = null
      return changed ?? undefined
    },
    () => new ServiceError('conflict', 'Other requests change this skill at the same time. Try again.'),
  )
}

async function storeVersion(
  { objects, clock }: SkillCaller['deps'],
  { tenant, skillId, number }: { readonly tenant: string; readonly skillId: string; readonly number: number },
  { name, description, bundle, sha256 }: MadeSkill,
): Promise<SkillVersion> {
  const objectKey = newObjectKey(tenant, 'skills', skillId)
  await objects.put(objectKey, bundle, { contentType: 'application/octet-stream' })
  return { number, name, description, createdAt: clock.now(), objectKey, bytes: bundle.byteLength, sha256 }
}
