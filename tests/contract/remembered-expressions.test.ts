import { PutItemCommand, UpdateItemCommand, type AttributeValue } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startStorage, type Storage } from '../support/start-storage.ts'

let storage: Storage
beforeAll(async () => void (storage = await startStorage()))
afterAll(() => storage.stop())

const Key = { pk: { S: 'T#one#row' }, sk: { S: 'row' } }

/** The item afterwards, or the sentence of the refusal. */
const update = (
  UpdateExpression: string,
  names: Record<string, string>,
  values: Record<string, AttributeValue>,
  ConditionExpression?: string,
): Promise<unknown> =>
  storage.clients.dynamodb
    .send(
      new UpdateItemCommand({
        TableName: storage.resources.tableName,
        Key,
        UpdateExpression,
        ...(ConditionExpression !== undefined && { ConditionExpression }),
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: values,
        ReturnValues: 'ALL_NEW',
      }),
    )
    .then(
      ({ Attributes }) => Attributes,
      (error: Error) => error.message,
    )

describe('an expression that the embedded table has read before', () => {
  beforeEach(async () => {
    const Item = { ...Key, list: { L: [] }, count: { N: '1' } }
    await storage.clients.dynamodb.send(new PutItemCommand({ TableName: storage.resources.tableName, Item }))
  })

  it('means the values and the names of each request', async () => {
    const isOne = '#c = :c'
    expect(await update('SET #a = :a', { '#a': 'x', '#c': 'count' }, { ':a': { S: 'first' }, ':c': { N: '1' } }, isOne)).toMatchObject({
      x: { S: 'first' },
    })
    expect(await update('SET #a = :a', { '#a': 'x', '#c': 'count' }, { ':a': { S: 'second' }, ':c': { N: '1' } }, isOne)).toMatchObject({
      x: { S: 'second' },
    })
    expect(await update('SET #a = :a', { '#a': 'y', '#c': 'count' }, { ':a': { S: 'third' }, ':c': { N: '1' } }, isOne)).toMatchObject({
      x: { S: 'second' },
      y: { S: 'third' },
    })
    const refused = await update('SET #a = :a', { '#a': 'x', '#c': 'count' }, { ':a': { S: 'fourth' }, ':c': { N: '2' } }, isOne)
    expect(refused).toBe('The conditional request failed')
  })

  it('leaves nothing of one request to the next', async () => {
    const append = (value: string): Promise<unknown> =>
      update(
        'SET #l = list_append(#l, :v), #c = #c + :one',
        { '#l': 'list', '#c': 'count' },
        { ':v': { L: [{ S: value }] }, ':one': { N: '1' } },
      )
    await append('a')
    await append('b')
    expect(await append('c')).toMatchObject({ list: { L: [{ S: 'a' }, { S: 'b' }, { S: 'c' }] }, count: { N: '4' } })
  })

  it('is refused with values of another type, and allowed again with the right one', async () => {
    const append = (value: AttributeValue): Promise<unknown> => update('SET #l = list_append(#l, :v)', { '#l': 'list' }, { ':v': value })
    expect(await append({ L: [{ N: '1' }] })).toMatchObject({ list: { L: [{ N: '1' }] } })
    expect(await append({ S: 'no list' })).toMatch(/Incorrect operand type/)
    expect(await append({ L: [{ N: '2' }] })).toMatchObject({ list: { L: [{ N: '1' }, { N: '2' }] } })
  })

  it('is refused for what depends on the values themselves', async () => {
    const between = (from: string, to: string): Promise<unknown> =>
      update('SET #a = :a', { '#a': 'x', '#c': 'count' }, { ':a': { S: 'x' }, ':f': { N: from }, ':t': { N: to } }, '#c BETWEEN :f AND :t')
    expect(await between('0', '5')).toMatchObject({ x: { S: 'x' } })
    expect(await between('5', '0')).toMatch(/upper bound/)
  })

  it('still misses a name and complains of a value that nobody uses', async () => {
    expect(await update('SET #a = :a', { '#a': 'x' }, { ':a': { S: 'x' } })).toMatchObject({ x: { S: 'x' } })
    expect(await update('SET #a = :a', { '#b': 'x' }, { ':a': { S: 'x' } })).toMatch(/attribute name: #a/)
    expect(await update('SET #a = :a', { '#a': 'x' }, { ':a': { S: 'x' }, ':b': { S: 'y' } })).toMatch(
      /unused in expressions: keys: \{:b\}/,
    )
    expect(await update('SET #a = :a', { '#a': 'constructor' }, { ':a': { S: 'x' } })).toMatchObject({ constructor: { S: 'x' } })
  })
})
