import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
  type DynamoDBClient,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb'
import { fromAttributes, toAttributes, type Attributes } from './attribute-values.ts'
import { itemTooLarge, refuseLargeValues, type Items } from '../rows/items.ts'
import type { Item } from '../rows/row-codec.ts'
import { tenantShard } from '../rows/keys.ts'
import { createTenantQuery } from './tenant-query.ts'
import { ExpressionPrinter } from './print-expression.ts'

/** Each primitive is one request; batches are repeated until DynamoDB has processed all of them. */
export function createDynamoItems(client: DynamoDBClient, tableName: string): Items {
  const found = {
    ...singleItems(client, { TableName: tableName }),
    ...queries(client, { TableName: tableName }),
    ...batches(client, tableName),
  }
  // DynamoDB acknowledges a write when it is durable.
  return { ...found, ofTenant: createTenantQuery(client, tableName, found), flush: async () => undefined }
}

/** The item as it is stored: with its place in the index of tenants. */
function storedItem(item: Item): Attributes {
  const shard = tenantShard(String(item['pk']))
  return toAttributes(shard === null ? item : { ...item, tenantShard: shard })
}

interface OfTable {
  readonly TableName: string
}

function singleItems(client: DynamoDBClient, ofTable: OfTable): Pick<Items, 'get' | 'put' | 'update' | 'delete'> {
  return {
    async get(key, { mayLag = false } = {}) {
      const { Item } = await client.send(new GetItemCommand({ ...ofTable, Key: toAttributes(key), ConsistentRead: !mayLag }))
      return Item === undefined ? null : fromAttributes(Item)
    },
    async put(item, condition) {
      refuseLargeValues(Object.values(item))
      const e = new ExpressionPrinter()
      const text = condition === undefined ? {} : { ConditionExpression: e.condition(condition) }
      return (
        (await unlessConditionFails(
          client.send(new PutItemCommand({ ...ofTable, Item: storedItem(item), ...text, ...placeholders(e) })),
        )) !== null
      )
    },
    async update(key, actions, { condition }) {
      const e = new ExpressionPrinter()
      const UpdateExpression = e.update(actions)
      refuseLargeValues(Object.values(e.values))
      const ConditionExpression = e.condition(condition)
      const command = new UpdateItemCommand({
        ...ofTable,
        Key: toAttributes(key),
        UpdateExpression,
        ConditionExpression,
        ...placeholders(e),
        ReturnValues: 'ALL_NEW',
      })
      const answer = await unlessConditionFails(client.send(command))
      return answer === null ? null : fromAttributes(answer.Attributes ?? {})
    },
    async delete(key) {
      const { Attributes } = await client.send(
        new DeleteItemCommand({ ...ofTable, Key: toAttributes({ pk: key.pk, sk: key.sk }), ReturnValues: 'ALL_OLD' }),
      )
      return Attributes === undefined ? null : fromAttributes(Attributes)
    },
  }
}

function queries(client: DynamoDBClient, ofTable: OfTable): Pick<Items, 'query'> {
  return {
    async query(request) {
      const e = new ExpressionPrinter()
      const answer = await client.send(
        new QueryCommand({
          ...ofTable,
          ...(request.index === undefined ? { ConsistentRead: true } : { IndexName: request.index }),
          KeyConditionExpression: e.condition(request.where),
          ...(request.filter === undefined ? {} : { FilterExpression: e.condition(request.filter) }),
          ...placeholders(e),
          ScanIndexForward: request.descending !== true,
          ...(request.limit === undefined ? {} : { Limit: request.limit }),
          ...(request.startKey === undefined ? {} : { ExclusiveStartKey: toAttributes(request.startKey) }),
        }),
      )
      return {
        items: (answer.Items ?? []).map(fromAttributes),
        lastKey: answer.LastEvaluatedKey && fromAttributes(answer.LastEvaluatedKey),
      }
    },
  }
}

function batches(client: DynamoDBClient, tableName: string): Pick<Items, 'getMany' | 'writeMany'> {
  return {
    async getMany(keys) {
      const found = new Map<string, Item>()
      for (const group of groupsOf(100, keys)) {
        let wanted: Attributes[] = group.map(({ pk, sk }) => toAttributes({ pk, sk }))
        for (let attempt = 0; wanted.length > 0; attempt++) {
          await pauseBefore(attempt)
          const answer = await client.send(
            new BatchGetItemCommand({ RequestItems: { [tableName]: { Keys: wanted, ConsistentRead: true } } }),
          )
          for (const item of (answer.Responses?.[tableName] ?? []).map(fromAttributes))
            found.set(`${String(item['pk'])} ${String(item['sk'])}`, item)
          wanted = answer.UnprocessedKeys?.[tableName]?.Keys ?? []
        }
      }
      return keys.map(({ pk, sk }) => found.get(`${pk} ${sk}`) ?? null)
    },
    async writeMany(changes) {
      for (const change of changes) if ('put' in change) refuseLargeValues(Object.values(change.put))
      const requests = changes.map((change) =>
        'put' in change
          ? { PutRequest: { Item: storedItem(change.put) } }
          : { DeleteRequest: { Key: toAttributes({ pk: change.delete.pk, sk: change.delete.sk }) } },
      )
      for (const group of groupsOf(25, requests)) {
        let left: WriteRequest[] = group
        for (let attempt = 0; left.length > 0; attempt++) {
          await pauseBefore(attempt)
          const answer = await client.send(new BatchWriteItemCommand({ RequestItems: { [tableName]: left } }))
          left = answer.UnprocessedItems?.[tableName] ?? []
        }
      }
    },
  }
}

/** DynamoDB refuses empty maps. */
const placeholders = (
  e: ExpressionPrinter,
): { readonly ExpressionAttributeNames?: Record<string, string>; readonly ExpressionAttributeValues?: Attributes } => ({
  ...(Object.keys(e.names).length === 0 ? {} : { ExpressionAttributeNames: e.names }),
  ...(Object.keys(e.values).length === 0 ? {} : { ExpressionAttributeValues: toAttributes(e.values) }),
})

async function unlessConditionFails<Answer>(request: Promise<Answer>): Promise<Answer | null> {
  try {
    return await request
  } catch (error) {
    if (error instanceof Error && error.name === 'ConditionalCheckFailedException') return null
    if (error instanceof Error && error.name === 'ValidationException' && /item size/i.test(error.message)) throw itemTooLarge(error)
    throw error
  }
}

function groupsOf<Thing>(size: number, things: readonly Thing[]): readonly Thing[][] {
  return Array.from({ length: Math.ceil(things.length / size) }, (_, index) => things.slice(index * size, (index + 1) * size))
}

/** DynamoDB returns throttled keys as unprocessed. An immediate retry would be throttled again. */
const pauseBefore = async (attempt: number): Promise<void> => {
  if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, Math.min(1_000, 25 * 2 ** attempt)))
}
