import { SQSClient } from '@aws-sdk/client-sqs'
import { constructorOptions, UNUSED_MIDDLEWARE, type ClientOptions } from '../client-options.ts'
import { createRetries } from '../retries.ts'

export function createSqsClient(options: ClientOptions): SQSClient {
  const client = new SQSClient({
    ...constructorOptions(options),
    // Every execution uses the queues: the handlers of their calls are built once.
    cacheMiddleware: true,
    retryStrategy: createRetries(),
    md5: false,
    ...(options.isEmulated === true ? { useQueueUrlAsEndpoint: false } : {}),
  })
  for (const name of UNUSED_MIDDLEWARE) client.middlewareStack.remove(name)
  return client
}
