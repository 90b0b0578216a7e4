import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'

/**
 * One message per invocation where a step may use the whole function time-out; `batchSize` is more for short steps, which then drain a burst before
 * the mapping has scaled. The concurrency limit is on the mapping: reserved
 * concurrency reduces the account's pool and cannot be deployed into a new account.
 */
export const consume = (
  worker: IFunction,
  queue: IQueue,
  { maxConcurrency, batchSize = 1 }: { readonly maxConcurrency: number; readonly batchSize?: number },
): void => worker.addEventSource(new SqsEventSource(queue, { batchSize, reportBatchItemFailures: true, maxConcurrency }))
