/** One immutable version of a skill: a folder of files whose `SKILL.md` tells a model how to do a task. */
export interface SkillVersion {
  /** From 1, never used twice. */
  readonly number: number
  /** As the front matter of its `SKILL.md` says. */
  readonly name: string
  readonly description: string
  readonly createdAt: number
  /** Object key of its bundle (`bundle.ts`). */
  readonly objectKey: string
  /** Size of the bundle. */
  readonly bytes: number
  /** SHA-256 of the bundle, hex. */
  readonly sha256: string
  /** The claim of the call that added it, so that its repetition finds it. Absent in first versions and in versions from before such claims. */
  readonly claim?: string
}

/** A skill with all of its versions, so that one conditional write changes both. Times are epoch ms. */
export interface Skill {
  readonly v: 1
  readonly tenant: string
  readonly subject: string | null
  readonly id: string
  readonly createdAt: number
  /** Oldest first; never empty. */
  readonly versions: readonly SkillVersion[]
  readonly defaultVersion: number
  /** The number of the next version. */
  readonly nextNumber: number
  /** Increases with every change; the condition of the next one. */
  readonly revision: number
}

/** A skill in a container, as its row describes it. The bundle is a copy below the container's prefix, so it lives as long as the container. */
export interface ContainerSkill {
  readonly name: string
  readonly description: string
  /** Its folder below SKILLS_FOLDER: name and content, so that two versions never mix and a repetition changes nothing. */
  readonly folder: string
  readonly objectKey: string
  readonly bytes: number
}

/** Where a sandbox has skills. Its programs cannot write there. */
export const SKILLS_FOLDER = '/mnt/skills'

export const skillFolder = (name: string, sha256: string): string => `${name}-${sha256.slice(0, 12)}`
export const skillPath = ({ folder }: Pick<ContainerSkill, 'folder'>): string => `${SKILLS_FOLDER}/${folder}`

export const latestVersion = ({ versions }: Skill): SkillVersion => {
  const latest = versions.at(-1)
  if (latest === undefined) throw new Error('A skill has no version')
  return latest
}

export const versionOf = ({ versions }: Skill, number: number): SkillVersion | null =>
  versions.find((version) => version.number === number) ?? null

export const defaultVersionOf = (skill: Skill): SkillVersion => versionOf(skill, skill.defaultVersion) ?? latestVersion(skill)
