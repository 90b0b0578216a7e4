import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'

/**
 * One message at a time: a step may take as long as its function, and shares its processor with nobody. The limit is on the mapping;
 * reserved concurrency would take from the account and cannot be deployed into a new one.
 */
export const consume = (worker: IFunction, queue: IQueue, maxConcurrency: number): void =>
  worker.addEventSource(new SqsEventSource(queue, { batchSize: 1, reportBatchItemFailures: true, maxConcurrency }))
