import { expect, describe, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import type { Table } from '../../../services/ports/table.ts'
import { DAY_MS } from '../../../services/model/tenants/retention.ts'
import { T0, skillRow, skillVersion } from '../../support/rows.ts'

export function skillStoreContract(table: () => Table): void {
  const store = () => table().skills

  describe('skills', () => {
    it('are returned as written, and a second creation changes nothing', async () => {
      const skill = skillRow({ subject: 'ann' })
      expect(await store().create(skill)).toBe(true)
      expect(await store().create({ ...skill, defaultVersion: 9 })).toBe(false)
      expect(await store().get(skill.tenant, skill.id)).toEqual(skill)
      expect(await store().get(newId('tenant'), skill.id)).toBeNull()
      await store().remove(skill.tenant, skill.id)
      expect(await store().get(skill.tenant, skill.id)).toBeNull()
    })

    it('change once for each revision that was read', async () => {
      const skill = skillRow()
      await store().create(skill)
      const change = (number: number) =>
        store().change(skill, { versions: [skillVersion(), skillVersion(number)], defaultVersion: number, nextNumber: number + 1 })
      const changed = await Promise.all([change(2), change(3), change(4)])
      const [winner] = changed.filter((row) => row !== null)
      expect(changed.filter((row) => row !== null)).toHaveLength(1)
      expect(winner?.revision).toBe(1)
      expect(await store().get(skill.tenant, skill.id)).toEqual(winner)
      expect(await store().change(skillRow(), { versions: [], defaultVersion: 1, nextNumber: 1 })).toBeNull()
    })

    it('hold the greatest number of versions with the longest descriptions', async () => {
      const versions = Array.from({ length: 64 }, (_, at) => ({
        ...skillVersion(at + 1),
        name: 'n'.repeat(64),
        description: '😀'.repeat(1024),
      }))
      const skill = skillRow({ versions })
      await store().create(skill)
      expect(await store().get(skill.tenant, skill.id)).toEqual(skill)
    })

    it('are listed in pages, of one tenant only', async () => {
      const tenant = newId('tenant')
      const skills = Array.from({ length: 3 }, (_, index) => skillRow({ tenant, createdAt: T0 + index }))
      for (const skill of [...skills, skillRow()]) await store().create(skill)
      expect(await store().list(tenant, { after: null, limit: 2, order: 'asc' })).toEqual({ rows: skills.slice(0, 2), hasMore: true })
      const after = skills[1]?.id ?? null
      expect(await store().list(tenant, { after, limit: 2, order: 'asc' })).toEqual({ rows: skills.slice(2), hasMore: false })
      expect((await store().list(tenant, { after: null, limit: 9, order: 'desc' })).rows).toEqual(skills.toReversed())
      expect(await store().list(tenant, { after: 'skill_none', limit: 3, order: 'asc' })).toEqual({ rows: [], hasMore: false })
    })

    it('are due when their retention is checked', async () => {
      const skill = skillRow({ createdAt: 3_000_000 })
      await store().create(skill)
      const due = (await table().due(3_000_000 + DAY_MS, 500)).filter((row) => row.id === skill.id)
      expect(due).toEqual([{ kind: 'skill', tenant: skill.tenant, id: skill.id, dueAt: 3_000_000 + DAY_MS }])
      await store().remove(skill.tenant, skill.id)
    })
  })
}
