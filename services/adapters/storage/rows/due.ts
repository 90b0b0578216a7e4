import { isDueName } from '../../../model/due-names.ts'
import type { DueRow } from '../../../ports/table.ts'
import { all, between, equals, set } from './expression.ts'
import type { Items } from './items.ts'
import { POOL_TENANT, allDueShards, parseRowKey, rowKey } from './keys.ts'

/** Due rows of all shards, earliest first. */
export async function findDue(
  items: Items,
  { now, limit, since }: { readonly now: number; readonly limit: number; readonly since: number },
): Promise<readonly DueRow[]> {
  const shards = await Promise.all(
    allDueShards().map((shard) =>
      items.query({ index: 'due', where: all(equals('dueShard', shard), between('dueAt', since, now)), limit }),
    ),
  )
  return shards
    .flatMap((page) => page.items.map((item) => dueRow(String(item['pk']), Number(item['dueAt']))))
    .toSorted((a, b) => a.dueAt - b.dueAt)
    .slice(0, limit)
}

export async function postponeDue(items: Items, { kind, tenant, id, dueAt: was }: DueRow, dueAt: number): Promise<void> {
  await items.update(rowKey(tenant, kind, id), [set('dueAt', dueAt)], { condition: equals('dueAt', was) })
}

function dueRow(pk: string, dueAt: number): DueRow {
  const { tenant, name, id } = parseRowKey(pk)
  if (!isDueName(name)) throw new Error(`A row of kind "${name}" cannot be due.`)
  return { kind: name, tenant: name === 'sandbox' ? POOL_TENANT : tenant, id, dueAt }
}
