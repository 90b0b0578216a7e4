import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { IBucket } from 'aws-cdk-lib/aws-s3'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { QueueName } from '../services/model/messages.ts'

/** What functions read and write, as permissions and environments name it. */
export interface DataResources {
  readonly region: string
  readonly key: IKey
  readonly table: ITable
  readonly bucket: IBucket
  readonly queues: Readonly<Record<QueueName, { readonly queue: IQueue; readonly deadLetterQueue: IQueue }>>
  readonly modelsSecret: { readonly secretArn: string }
}
