import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'

/**
 * One message per invocation, because a step may use the whole function time-out. The concurrency limit is on the mapping: reserved
 * concurrency reduces the account's pool and cannot be deployed into a new account.
 */
export const consume = (worker: IFunction, queue: IQueue, maxConcurrency: number): void =>
  worker.addEventSource(new SqsEventSource(queue, { batchSize: 1, reportBatchItemFailures: true, maxConcurrency }))
