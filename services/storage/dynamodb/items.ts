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
import { conditionText, Expression, updateText, type Action, type Condition } from './expression.ts'
import type { ItemKey } from './keys.ts'
import type { Item } from './row-codec.ts'

/** DynamoDB takes 400 KB an item, names and index keys included. */
export const MAX_ROW_BYTES = 380 * 1024

export interface QueryRequest {
  readonly index?: 'list' | 'due' | 'pool'
  readonly where: Condition
  readonly filter?: Condition
  readonly descending?: boolean
  /** Items looked at in this page. */
  readonly limit?: number
  readonly startKey?: Item | undefined
}
export interface QueryPage {
  readonly items: readonly Item[]
  /** Where to go on; undefined at the end. */
  readonly lastKey: Item | undefined
}

/** The few calls that the stores are made of, each one request. Reads of the table are consistent. */
export interface Items {
  get(key: ItemKey): Promise<Item | null>
  /** False when the condition does not hold. */
  put(item: Item, condition?: Condition): Promise<boolean>
  /** The item as it is afterwards; null when the condition does not hold. */
  update(key: ItemKey, actions: readonly Action[], condition: Condition): Promise<Item | null>
  delete(key: ItemKey): Promise<void>
  query(request: QueryRequest): Promise<QueryPage>
  /** In the order of the keys; null for those that do not exist. */
  getMany(keys: readonly ItemKey[]): Promise<readonly (Item | null)[]>
  writeMany(changes: readonly ({ readonly put: Item } | { readonly delete: ItemKey })[]): Promise<void>
}

export function createItems(client: DynamoDBClient, tableName: string): Items {
  const ofTable = { TableName: tableName }

  return {
    async get(key) {
      const { Item } = await client.send(new GetItemCommand({ ...ofTable, Key: toAttributes(key), ConsistentRead: true }))
      return Item === undefined ? null : fromAttributes(Item)
    },
    async put(item, condition) {
      refuseTooLarge(Object.values(item))
      const e = new Expression()
      const text = condition === undefined ? {} : { ConditionExpression: conditionText(condition, e) }
      return (
        (await unlessConditionFails(
          client.send(new PutItemCommand({ ...ofTable, Item: toAttributes(item), ...text, ...placeholders(e) })),
        )) !== null
      )
    },
    async update(key, actions, condition) {
      const e = new Expression()
      const UpdateExpression = updateText(e, actions)
      refuseTooLarge(Object.values(e.values))
      const ConditionExpression = conditionText(condition, e)
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
      await client.send(new DeleteItemCommand({ ...ofTable, Key: toAttributes(key) }))
    },
    async query(request) {
      const e = new Expression()
      const answer = await client.send(
        new QueryCommand({
          ...ofTable,
          ...(request.index === undefined ? { ConsistentRead: true } : { IndexName: request.index }),
          KeyConditionExpression: conditionText(request.where, e),
          ...(request.filter === undefined ? {} : { FilterExpression: conditionText(request.filter, e) }),
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
      for (const change of changes) if ('put' in change) refuseTooLarge(Object.values(change.put))
      const requests = changes.map((change) =>
        'put' in change ? { PutRequest: { Item: toAttributes(change.put) } } : { DeleteRequest: { Key: toAttributes(change.delete) } },
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
  e: Expression,
): { readonly ExpressionAttributeNames?: Record<string, string>; readonly ExpressionAttributeValues?: Attributes } => ({
  ...(Object.keys(e.names).length === 0 ? {} : { ExpressionAttributeNames: e.names }),
  ...(Object.keys(e.values).length === 0 ? {} : { ExpressionAttributeValues: toAttributes(e.values) }),
})

async function unlessConditionFails<Answer>(request: Promise<Answer>): Promise<Answer | null> {
  try {
    return await request
  } catch (error) {
    if (error instanceof Error && error.name === 'ConditionalCheckFailedException') return null
    if (error instanceof Error && error.name === 'ValidationException' && /item size/i.test(error.message)) throw tooLarge(error)
    throw error
  }
}

const tooLarge = (cause?: unknown): Error =>
  new Error(
    `A row may hold ${MAX_ROW_BYTES} bytes and this one would hold more. Store its largest field as an object and keep a reference in the row.`,
    { cause },
  )

function refuseTooLarge(values: readonly unknown[]): void {
  let bytes = 0
  for (const value of values) if (typeof value === 'string') bytes += value.length < 256 ? value.length : Buffer.byteLength(value)
  if (bytes > MAX_ROW_BYTES) throw tooLarge()
}

function groupsOf<Thing>(size: number, things: readonly Thing[]): readonly Thing[][] {
  return Array.from({ length: Math.ceil(things.length / size) }, (_, index) => things.slice(index * size, (index + 1) * size))
}

/** DynamoDB hands back what it had no room for; asking again at once would be refused again. */
const pauseBefore = async (attempt: number): Promise<void> => {
  if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, Math.min(1_000, 25 * 2 ** attempt)))
}
