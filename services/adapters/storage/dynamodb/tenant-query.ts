import { QueryCommand, ScanCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { equals, startsWith } from '../rows/expression.ts'
import type { Items, TenantPage } from '../rows/items.ts'
import { allTenantShards, rowKey, tenantPrefix } from '../rows/keys.ts'
import type { Item } from '../rows/row-codec.ts'
import { fromAttributes, toAttributes } from './attribute-values.ts'
import { ExpressionPrinter } from './print-expression.ts'

/** Rows of a page. A row has up to 380 KB, and a page is in memory. */
const PAGE_ITEMS = 100

/**
 * The rows of a tenant by the index `tenant`, shard by shard. A tenant whose own row is not in the index was created by a version without it; then its
 * other rows may not be there either, and the whole table is read. A cursor names the shard, and the last row that was read of it.
 */
export const createTenantQuery =
  (client: DynamoDBClient, TableName: string, items: Pick<Items, 'get' | 'getMany'>): Items['ofTenant'] =>
  async (tenant, cursor) => {
    const start = cursor === null ? null : (JSON.parse(cursor) as Item)
    const own = start ?? (await items.get(rowKey(tenant, 'tenant', tenant)))
    return own?.['tenantShard'] === undefined ? scanTable(tenant, start) : queryIndex(tenant, start)

    async function queryIndex(of: string, from: Item | null): Promise<TenantPage> {
      const shards = allTenantShards(of)
      const shard = shards.find((one) => one === from?.['tenantShard']) ?? shards[0] ?? ''
      const e = new ExpressionPrinter()
      const answer = await client.send(
        new QueryCommand({
          TableName,
          IndexName: 'tenant',
          KeyConditionExpression: e.condition(equals('tenantShard', shard)),
          ExpressionAttributeNames: e.names,
          ExpressionAttributeValues: toAttributes(e.values),
          Limit: PAGE_ITEMS,
          ...(from?.['pk'] === undefined ? {} : { ExclusiveStartKey: toAttributes(from) }),
        }),
      )
      const keys = (answer.Items ?? []).map(fromAttributes).map((key) => ({ pk: String(key['pk']), sk: String(key['sk']) }))
      const rows = await items.getMany(keys)
      const next = shards[shards.indexOf(shard) + 1]
      const last = answer.LastEvaluatedKey === undefined ? next && { tenantShard: next } : fromAttributes(answer.LastEvaluatedKey)
      return { items: rows.filter((row) => row !== null), cursor: last === undefined ? null : JSON.stringify(last) }
    }

    async function scanTable(of: string, from: Item | null): Promise<TenantPage> {
      const e = new ExpressionPrinter()
      const answer = await client.send(
        new ScanCommand({
          TableName,
          ConsistentRead: true,
          FilterExpression: e.condition(startsWith('pk', tenantPrefix(of))),
          ExpressionAttributeNames: e.names,
          ExpressionAttributeValues: toAttributes(e.values),
          ...(from === null ? {} : { ExclusiveStartKey: toAttributes(from) }),
        }),
      )
      const { LastEvaluatedKey: last } = answer
      return { items: (answer.Items ?? []).map(fromAttributes), cursor: last === undefined ? null : JSON.stringify(fromAttributes(last)) }
    }
  }
