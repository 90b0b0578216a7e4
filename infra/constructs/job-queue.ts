import { Duration, Stack } from 'aws-cdk-lib'
import { Queue, QueueEncryption, RedrivePermission } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import type { QueueDefinition } from '../../services/adapters/storage/sqs/queue-definitions.ts'

export interface JobQueueProps {
  readonly stage: string
  readonly definition: QueueDefinition
}

/** A standard queue (fair by `MessageGroupId`) with its dead-letter queue. Messages hold ids only. */
export class JobQueue extends Construct {
  readonly queue: Queue
  readonly deadLetterQueue: Queue

  constructor(scope: Construct, id: string, { stage, definition }: JobQueueProps) {
    super(scope, id)
    const queueName = `cellblock-${stage}-${definition.name}`
    const deadName = `cellblock-${stage}-${definition.deadLetterName}`
    const common = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true }
    // By ARN text, because the two queues refer to each other.
    const source = Queue.fromQueueArn(this, 'Source', Stack.of(this).formatArn({ service: 'sqs', resource: queueName }))
    this.deadLetterQueue = new Queue(this, 'Dead', {
      ...common,
      queueName: deadName,
      retentionPeriod: Duration.days(14),
      visibilityTimeout: Duration.seconds(definition.visibilityTimeoutSeconds),
      redriveAllowPolicy: { redrivePermission: RedrivePermission.BY_QUEUE, sourceQueues: [source] },
    })
    this.queue = new Queue(this, 'Resource', {
      ...common,
      queueName,
      retentionPeriod: Duration.days(4),
      visibilityTimeout: Duration.seconds(definition.visibilityTimeoutSeconds),
      receiveMessageWaitTime: Duration.seconds(20),
      deadLetterQueue: { queue: this.deadLetterQueue, maxReceiveCount: definition.maxReceiveCount },
    })
  }
}
