import { DeleteItemCommand, ScanCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'

/**
 * What DynamoDB does with rows whose `ttl` (epoch seconds) is over, and the embedded emulator does not: takes them away. Returns how many.
 * A row that got a later time meanwhile stays.
 */
export async function expireRows(client: DynamoDBClient, tableName: string, now: number): Promise<number> {
  const isOver = {
    ExpressionAttributeNames: { '#ttl': 'ttl' },
    ExpressionAttributeValues: { ':now': { N: String(Math.floor(now / 1000)) } },
  }
  let removed = 0
  let ExclusiveStartKey: Record<string, never> | undefined
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: tableName,
        FilterExpression: '#ttl <= :now',
        ...isOver,
        ...(ExclusiveStartKey && { ExclusiveStartKey }),
      }),
    )
    for (const { pk, sk } of page.Items ?? []) {
      if (pk === undefined || sk === undefined) continue
      const isGone = await client
        .send(new DeleteItemCommand({ TableName: tableName, Key: { pk, sk }, ConditionExpression: '#ttl <= :now', ...isOver }))
        .then(
          () => true,
          (error: unknown) => {
            if (error instanceof Error && error.name === 'ConditionalCheckFailedException') return false
            throw error
          },
        )
      if (isGone) removed += 1
    }
    ExclusiveStartKey = page.LastEvaluatedKey as typeof ExclusiveStartKey
  } while (ExclusiveStartKey !== undefined)
  return removed
}

const EVERY_MS = 3_600_000

/** Does so now and every hour until the returned function is called. `failed` hears of a pass that did not work; the next one tries again. */
export function keepExpiring(client: DynamoDBClient, tableName: string, failed: (error: unknown) => void): () => void {
  const pass = (): void => void expireRows(client, tableName, Date.now()).catch(failed)
  const timer = setInterval(pass, EVERY_MS)
  timer.unref()
  pass()
  return () => clearInterval(timer)
}
