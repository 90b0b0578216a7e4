import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { constructorOptions, UNUSED_MIDDLEWARE, type ClientOptions } from '../client-options.ts'
import { createRetries } from '../retries.ts'

export function createDynamoClient(options: ClientOptions): DynamoDBClient {
  // Every execution uses the table: the handlers of its calls are built once.
  const client = new DynamoDBClient({ ...constructorOptions(options), cacheMiddleware: true, retryStrategy: createRetries() })
  for (const name of UNUSED_MIDDLEWARE) client.middlewareStack.remove(name)
  return client
}
