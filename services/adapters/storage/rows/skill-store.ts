import type { SkillStore } from '../../../ports/skill-store.ts'
import type { Skill } from '../../../model/skills/skill.ts'
import { firstRetentionCheck } from '../../../model/tenants/retention.ts'
import { absent, equals, increment } from './expression.ts'
import type { Items } from './items.ts'
import { dueShard, listPartition, listSortKey, rowKey } from './keys.ts'
import { listPage, placeOf } from './list-page.ts'
import { skillCodec } from './row-shapes.ts'

const keyOf = (tenant: string, id: string) => rowKey(tenant, 'skill', id)

/** Skills of a tenant by time of creation. A skill is due when its retention is checked. */
export function createSkillStore(items: Items): SkillStore {
  const get = async (tenant: string, id: string): Promise<Skill | null> => {
    const item = await items.get(keyOf(tenant, id))
    return item === null ? null : skillCodec.decode(item)
  }

  return {
    create(skill) {
      const key = keyOf(skill.tenant, skill.id)
      const list = { lpk: listPartition(skill.tenant, 'skills'), lsk: listSortKey(skill.createdAt, skill.id) }
      const due = { dueShard: dueShard(key.pk), dueAt: firstRetentionCheck(skill.createdAt) }
      return items.put({ ...skillCodec.encode(skill), ...key, ...list, ...due }, absent('pk'))
    },
    get,
    async list(tenant, page) {
      const after = page.after === null ? null : placeOf('skill', page.after, await get(tenant, page.after))
      if (page.after !== null && after === null) return { rows: [], hasMore: false }
      return listPage(items, skillCodec, { partition: listPartition(tenant, 'skills'), after, page })
    },
    async change({ tenant, id, revision }, { versions, defaultVersion, nextNumber }) {
      const actions = [...skillCodec.patch({ versions, defaultVersion, nextNumber }), increment('revision')]
      const item = await items.update(keyOf(tenant, id), actions, { condition: equals('revision', revision) })
      return item === null ? null : skillCodec.decode(item)
    },
    remove: async (tenant, id) => void (await items.delete(keyOf(tenant, id))),
  }
}
