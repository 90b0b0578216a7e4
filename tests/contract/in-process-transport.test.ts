import { DeleteItemCommand, GetItemCommand, PutItemCommand, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StorageClients } from '../../services/storage/clients.ts'
import { startStorage, type Storage } from '../support/start-storage.ts'

let storage: Storage
let byHttp: StorageClients
beforeAll(async () => {
  storage = await startStorage()
  byHttp = storage.byHttp()
})
afterAll(async () => {
  byHttp.close()
  await storage.stop()
})

type Sent = GetItemCommand | PutItemCommand | UpdateItemCommand | DeleteItemCommand | QueryCommand

const Key = { pk: { S: 'T#one#row' }, sk: { S: 'row' } }

describe('the way to the emulators inside one process', () => {
  it('leads to the same table as HTTP does: each reads what the other wrote, text of several bytes a character whole', async () => {
    const { dynamodb } = storage.clients
    const TableName = storage.resources.tableName
    const text = 'Zürich, 東京 😀'.repeat(2_000)
    await dynamodb.send(new PutItemCommand({ TableName, Item: { ...Key, text: { S: text } } }))
    const read = await byHttp.dynamodb.send(new GetItemCommand({ TableName, Key }))
    expect(read.Item?.['text']?.S).toBe(text)
    await byHttp.dynamodb.send(new PutItemCommand({ TableName, Item: { ...Key, text: { S: 'by HTTP' } } }))
    expect((await dynamodb.send(new GetItemCommand({ TableName, Key }))).Item?.['text']?.S).toBe('by HTTP')
  })

  it('answers and refuses as HTTP does', async () => {
    const TableName = storage.resources.tableName
    const own = (name: string) => ({ pk: { S: `T#one#${name}` }, sk: { S: 'row' } })
    const names = { '#a': 'a' }
    const nested = { L: [{ M: { B: { N: '1.50' }, empty: { S: '' }, gone: { NULL: true } } }, { BOOL: false }] }
    const commands = (one: string): readonly Sent[] => [
      new PutItemCommand({ TableName, Item: { ...own(one), a: nested, ttl: { N: '12345678901234567890' } } }),
      new PutItemCommand({ TableName, Item: { ...own(one), a: { S: 'x' } }, ReturnValues: 'ALL_OLD' }),
      new PutItemCommand({ TableName, Item: own(one), ConditionExpression: 'attribute_not_exists(pk)' }),
      new UpdateItemCommand({
        TableName,
        Key: own(one),
        UpdateExpression: 'SET #a = :a REMOVE gone',
        ConditionExpression: '#a = :before AND attribute_not_exists(gone)',
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: { ':a': nested, ':before': { S: 'x' } },
        ReturnValues: 'ALL_NEW',
      }),
      new UpdateItemCommand({
        TableName,
        Key: own('nobody'),
        UpdateExpression: 'SET #a = :a',
        ConditionExpression: 'attribute_exists(#a)',
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: { ':a': { S: 'x' } },
      }),
      new UpdateItemCommand({ TableName, Key: own(one), UpdateExpression: 'SET #a = :a', ExpressionAttributeNames: names }),
      new UpdateItemCommand({ TableName, Key: own(one), UpdateExpression: 'SET a =' }),
      new GetItemCommand({ TableName, Key: own(one), ConsistentRead: true }),
      new GetItemCommand({ TableName, Key: own('nobody') }),
      new GetItemCommand({ TableName, Key: { pk: { S: 'half a key' } } }),
      new GetItemCommand({ TableName: 'no-such-table', Key: own(one) }),
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': own(one).pk },
        Limit: 1,
      }),
      new DeleteItemCommand({ TableName, Key: own(one), ReturnValues: 'ALL_OLD' }),
      new DeleteItemCommand({ TableName, Key: own(one) }),
    ]
    const ask = async (clients: StorageClients): Promise<readonly unknown[]> => {
      const answers: unknown[] = []
      for (const command of commands('both'))
        answers.push(
          await clients.dynamodb.send(command as GetItemCommand).then(
            (answer) => JSON.parse(JSON.stringify({ ...answer, $metadata: undefined })) as unknown,
            ({ name, message }: Error) => ({ name, message }),
          ),
        )
      return answers
    }
    const here = await ask(storage.clients)
    expect(here).toEqual(await ask(byHttp))
    expect(here.filter((answer) => (answer as { name?: string }).name !== undefined)).toMatchObject([
      { name: 'ConditionalCheckFailedException' },
      { name: 'ConditionalCheckFailedException' },
      { name: 'ValidationException' },
      { name: 'ValidationException' },
      { name: 'ValidationException' },
      { name: 'ResourceNotFoundException' },
    ])
  })

  it('wakes a receiver that waits when a message comes by HTTP', async () => {
    const QueueUrl = storage.resources.queueUrls.turns
    const waiting = storage.clients.sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }))
    await byHttp.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'hello' }))
    expect((await waiting).Messages).toMatchObject([{ Body: 'hello' }])
  })

  it('lets go of a receiver at once when its signal aborts, before the call and in the middle of it', async () => {
    const QueueUrl = storage.resources.queueUrls.placements
    const receive = (abortSignal: AbortSignal): Promise<unknown> =>
      storage.clients.sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }), { abortSignal })
    const stopping = new AbortController()
    const waiting = receive(stopping.signal)
    stopping.abort()
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
    await expect(receive(AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('is closed without a fault under those who still read', async () => {
    const short = await startStorage()
    const TableName = short.resources.tableName
    const reads = Array.from({ length: 50 }, () => short.clients.dynamodb.send(new GetItemCommand({ TableName, Key })))
    const ended = Promise.allSettled(reads)
    await short.emulators.stop()
    const late = short.clients.dynamodb.send(new GetItemCommand({ TableName, Key }))
    await expect(late).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
    for (const read of await ended) if (read.status === 'rejected') expect(read.reason).toMatchObject({ name: 'ResourceNotFoundException' })
    short.clients.close()
  })
})
