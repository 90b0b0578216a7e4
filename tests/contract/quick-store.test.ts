import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
  type AttributeValue,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startStorage, type Storage } from '../support/start-storage.ts'

let storage: Storage
let dynamodb: DynamoDBClient
beforeAll(async () => {
  storage = await startStorage()
  dynamodb = storage.clients.dynamodb
})
afterAll(() => storage.stop())

const TableName = 'books'

/** A table with an index by shelf and place that shows the title, too. */
const createShelf = async ([HASH, name]: readonly [string, string]): Promise<void> => {
  await dynamodb.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [HASH, name, 'place'].map((attribute) => ({ AttributeName: attribute, AttributeType: 'S' })),
      KeySchema: [{ AttributeName: HASH, KeyType: 'HASH' }],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'shelves',
          KeySchema: [
            { AttributeName: name, KeyType: 'HASH' },
            { AttributeName: 'place', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['title'] },
        },
      ],
    }),
  )
  const status = async () => (await dynamodb.send(new DescribeTableCommand({ TableName }))).Table?.TableStatus
  await expect.poll(status).toBe('ACTIVE')
}

const update = (pk: string, expression: string, values?: Record<string, AttributeValue>): Promise<unknown> =>
  dynamodb.send(
    new UpdateItemCommand({
      TableName,
      Key: { pk: { S: pk } },
      UpdateExpression: expression,
      ...(values && { ExpressionAttributeValues: values }),
    }),
  )
const onShelf = async (shelf: string): Promise<unknown> =>
  (
    await dynamodb.send(
      new QueryCommand({
        TableName,
        IndexName: 'shelves',
        KeyConditionExpression: 'shelf = :s',
        ExpressionAttributeValues: { ':s': { S: shelf } },
      }),
    )
  ).Items

describe('an index of the embedded table', () => {
  it('shows every change of what it holds, and nothing else', async () => {
    await createShelf(['pk', 'shelf'])
    const book = { pk: { S: 'b1' }, shelf: { S: 'A' }, place: { S: '1' }, title: { S: 'old' } }
    await dynamodb.send(new PutItemCommand({ TableName, Item: { ...book, pages: { N: '1' } } }))
    expect(await onShelf('A')).toEqual([book])
    await update('b1', 'SET pages = :p', { ':p': { N: '2' } })
    expect(await onShelf('A')).toEqual([book])
    await update('b1', 'SET title = :t', { ':t': { S: 'new' } })
    expect(await onShelf('A')).toEqual([{ ...book, title: { S: 'new' } }])
    await update('b1', 'SET place = :p', { ':p': { S: '2' } })
    expect(await onShelf('A')).toEqual([{ ...book, place: { S: '2' }, title: { S: 'new' } }])
    await update('b1', 'SET shelf = :s', { ':s': { S: 'B' } })
    expect([await onShelf('A'), await onShelf('B')]).toMatchObject([[], [{ pk: { S: 'b1' } }]])
    await update('b1', 'REMOVE shelf')
    expect(await onShelf('B')).toEqual([])
    await update('b1', 'SET shelf = :s', { ':s': { S: 'B' } })
    await dynamodb.send(new PutItemCommand({ TableName, Item: { pk: { S: 'b1' }, place: { S: '2' } } }))
    expect(await onShelf('B')).toEqual([])
  })
})

describe('an embedded table that is made anew', () => {
  it('is what it is now, not what it was', async () => {
    await dynamodb.send(new DeleteTableCommand({ TableName }))
    const gone = dynamodb.send(new GetItemCommand({ TableName, Key: { pk: { S: 'b1' } } }))
    await expect(gone).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
    const look = () =>
      dynamodb.send(new DescribeTableCommand({ TableName })).then(
        () => 'there',
        (error: Error) => error.name,
      )
    await expect.poll(look).toBe('ResourceNotFoundException')
    await createShelf(['id', 'row'])
    const put = (Item: Record<string, AttributeValue>): Promise<unknown> => dynamodb.send(new PutItemCommand({ TableName, Item }))
    await put({ id: { S: 'b2' } })
    await expect(put({ pk: { S: 'b1' } })).rejects.toMatchObject({ name: 'ValidationException' })
  })
})
