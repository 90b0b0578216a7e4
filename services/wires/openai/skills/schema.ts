import * as z from 'zod'
import { boundedList } from '../../../model/bounded-schemas.ts'
import { lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { LIMITS } from '../../../model/limits.ts'
import { defaultVersionOf, latestVersion, type Skill as SkillRow, type SkillVersion as VersionRow } from '../../../model/skills/skill.ts'

export const SkillForm = lazySchema(() =>
  z
    .object({
      'files[]': boundedList(z.string().openapi({ format: 'binary' }), { max: LIMITS.maxSkillFiles }).openapi({
        description: `The files with their folders in the file names, or one zip archive: at most ${LIMITS.maxSkillFiles} files and ${LIMITS.maxSkillBytes} bytes.`,
      }),
    })
    .openapi('SkillForm'),
)

export const SkillVersionForm = lazySchema(() =>
  SkillForm()
    .extend({
      default: z.boolean().optional().openapi({ description: 'Whether it becomes the default version.' }),
    })
    .openapi('SkillVersionForm'),
)

/** Fields of the form beside the files. */
export const VersionFields = lazySchema(() => z.object({ default: z.enum(['true', 'false'], 'give true or false').optional() }))

export const UpdateSkill = lazySchema(() =>
  z.object({ default_version: z.string().max(40).openapi({ description: 'A number or `latest`.', example: '2' }) }).openapi('UpdateSkill'),
)

const described = lazySchema(() => ({
  name: z.string().openapi({ description: 'From the front matter of `SKILL.md`.' }),
  description: z.string(),
  created_at: z.int().openapi({ description: 'Unix seconds.' }),
}))

export const Skill = lazySchema(() =>
  z
    .object({
      id: z.string().openapi({ example: 'skill_01kajv9h2s8p0ww3d4dq4cs1zt' }),
      object: z.literal('skill'),
      ...described(),
      default_version: z.string(),
      latest_version: z.string(),
    })
    .openapi('Skill'),
)

export const SkillVersion = lazySchema(() =>
  z
    .object({ id: z.string(), object: z.literal('skill.version'), skill_id: z.string(), ...described(), version: z.string() })
    .openapi('SkillVersion'),
)

export const DeletedSkillVersion = lazySchema(() =>
  z
    .object({ id: z.string(), object: z.literal('skill.version.deleted'), deleted: z.literal(true), version: z.string() })
    .openapi('DeletedSkillVersion'),
)

const seconds = (time: number): number => Math.floor(time / 1000)

/** Name and description are those of the default version. */
export function renderSkill(row: SkillRow): Described<typeof Skill> {
  const { name, description } = defaultVersionOf(row)
  return {
    id: row.id,
    object: 'skill',
    name,
    description,
    created_at: seconds(row.createdAt),
    default_version: String(row.defaultVersion),
    latest_version: String(latestVersion(row).number),
  }
}

export const versionId = (skillId: string, number: number): string => `${skillId}:${number}`

export const renderVersion = (skill: SkillRow, { number, name, description, createdAt }: VersionRow): Described<typeof SkillVersion> => ({
  id: versionId(skill.id, number),
  object: 'skill.version',
  skill_id: skill.id,
  name,
  description,
  created_at: seconds(createdAt),
  version: String(number),
})
