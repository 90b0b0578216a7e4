import type { Skill } from '../model/skills/skill.ts'
import type { Page, PageRequest } from '../model/page.ts'

export interface SkillStore {
  /** False when the id exists; the row is then not changed. */
  create(skill: Skill): Promise<boolean>
  get(tenant: string, id: string): Promise<Skill | null>
  list(tenant: string, page: PageRequest): Promise<Page<Skill>>
  /** Replaces versions and default of the row that still has `revision`, and increments it. Null when the row has changed or is gone. */
  change(
    skill: Pick<Skill, 'tenant' | 'id' | 'revision'>,
    changed: Pick<Skill, 'versions' | 'defaultVersion' | 'nextNumber'>,
  ): Promise<Skill | null>
  remove(tenant: string, id: string): Promise<void>
}
