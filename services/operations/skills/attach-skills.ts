import type { Container } from '../../model/containers/container.ts'
import { changeByCompareAndSet } from '../../model/change-by-compare-and-set.ts'
import { ServiceError } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import { newObjectKey, objectPrefix } from '../../model/object-keys.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Table } from '../../ports/table.ts'
import type { ContainerSkill } from '../../model/skills/skill.ts'

interface Ports {
  readonly table: Pick<Table, 'containers'>
  readonly objects: Pick<ObjectStore, 'get' | 'put' | 'delete'>
}

/** Concurrent changes of the container's files may refuse a write this often. */

/**
 * Gives a container skills that it does not have, each with a copy of its bundle, and returns the row afterwards. The next execution or command finds them
 * in the sandbox. A repetition changes nothing. Throws ServiceError `limit_exceeded` for too many, `skill_not_found` when a bundle was deleted and
 * `container_not_found`; the container is then unchanged.
 */
export async function attachSkills(ports: Ports, container: Container, wanted: readonly ContainerSkill[]): Promise<Container> {
  let row: Container | null = container
  const missing = missingFrom(row, wanted)
  if (missing.length === 0) return row
  checkSkillLimits([...(row.skills ?? []), ...missing])
  const copies: ContainerSkill[] = []
  try {
    for (const skill of missing) copies.push(await copyBundle(ports, row, skill))
    row = await changeByCompareAndSet(
      async () => {
        if (row === null || row.deletedAt !== null)
          throw new ServiceError('container_not_found', `The container ${container.id} was deleted. Create another one.`)
        const added = missingFrom(row, copies)
        if (added.length === 0) return row
        const skills = [...(row.skills ?? []), ...added]
        checkSkillLimits(skills)
        const changed = await ports.table.containers.setSkills(row.tenant, row.id, { filesVersion: row.filesVersion, skills })
        if (changed === null) row = await ports.table.containers.get(container.tenant, container.id)
        return changed ?? undefined
      },
      () => new Error(`The container ${container.id} changed during every attempt to give it skills.`),
    )
    return row
  } finally {
    // Copies that the row does not name: another request was faster, or the container refused them.
    const named = new Set(row?.skills?.map(({ objectKey }) => objectKey))
    for (const { objectKey } of copies) if (!named.has(objectKey)) await ports.objects.delete(objectKey)
  }
}

/** Throws ServiceError `limit_exceeded` when a container cannot have all of these skills. */
export function checkSkillLimits(skills: readonly ContainerSkill[], param = 'skills'): void {
  if (skills.length > LIMITS.maxSkillsPerContainer)
    throw new ServiceError(
      'limit_exceeded',
      `A container has at most ${LIMITS.maxSkillsPerContainer} skills, and this would be ${skills.length}. Name fewer.`,
      { param },
    )
  const bytes = skills.reduce((sum, skill) => sum + skill.bytes, 0)
  if (bytes > LIMITS.maxContainerSkillBytes)
    throw new ServiceError(
      'limit_exceeded',
      `The skills of a container have at most ${LIMITS.maxContainerSkillBytes} bytes together, and these have ${bytes}. Name fewer, or make them smaller.`,
      { param },
    )
}

const missingFrom = ({ skills = [] }: Container, wanted: readonly ContainerSkill[]): readonly ContainerSkill[] =>
  wanted.filter(({ folder }) => !skills.some((known) => known.folder === folder))

/** A container's objects are deleted with it, so it has its own copy. */
async function copyBundle({ objects }: Ports, container: Container, skill: ContainerSkill): Promise<ContainerSkill> {
  if (skill.objectKey.startsWith(objectPrefix(container.tenant, container.id))) return skill
  const source = await objects.get(skill.objectKey)
  if (source === null)
    throw new ServiceError('skill_not_found', `The skill ${JSON.stringify(skill.name)} was deleted. Upload it again with POST /v1/skills.`)
  const objectKey = newObjectKey(container.tenant, 'skills', container.id)
  await objects.put(objectKey, source.body, { contentType: 'application/octet-stream', bytes: source.bytes })
  return { ...skill, objectKey }
}
