import { GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createStorageClients, type StorageClients } from '../../services/storage/clients.ts'
import { startStorage, type Storage } from '../support/start-storage.ts'

let storage: Storage
let byHttp: StorageClients
beforeAll(async () => {
  storage = await startStorage()
  const { region, credentials, endpoints } = storage.emulators
  byHttp = createStorageClients({ region, credentials, endpoints })
})
afterAll(async () => {
  byHttp.close()
  await storage.stop()
})

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

  it('refuses as HTTP does: the same error of the SDK for the same fault', async () => {
    const { tableName: TableName } = storage.resources
    const refused = (clients: StorageClients): Promise<unknown> =>
      clients.dynamodb
        .send(
          new UpdateItemCommand({
            TableName,
            Key: { pk: { S: 'nobody' }, sk: { S: 'row' } },
            UpdateExpression: 'SET #a = :a',
            ConditionExpression: 'attribute_exists(#a)',
            ExpressionAttributeNames: { '#a': 'a' },
            ExpressionAttributeValues: { ':a': { S: 'x' } },
          }),
        )
        .then(
          () => null,
          (error: Error) => ({ name: error.name, message: error.message }),
        )
    const here = await refused(storage.clients)
    expect(here).toMatchObject({ name: 'ConditionalCheckFailedException' })
    expect(here).toEqual(await refused(byHttp))
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
