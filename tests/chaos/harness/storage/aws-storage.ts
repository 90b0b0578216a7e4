import { DeleteMessageCommand, GetQueueAttributesCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { QUEUES } from '../../../../services/model/messages.ts'
import { createStorageClients, type StorageClients } from '../../../../services/adapters/storage/clients.ts'
import { createDynamoTable } from '../../../../services/adapters/storage/dynamodb/dynamo-table.ts'
import { createS3ObjectStore } from '../../../../services/adapters/storage/s3/s3-object-store.ts'
import { createSqsConsumer } from '../../../../services/adapters/storage/sqs/sqs-consumer.ts'
import { createSqsQueue } from '../../../../services/adapters/storage/sqs/sqs-queue.ts'
import { createResources } from '../../../emulators/create-resources.ts'
import { injectFaults } from '../faults.ts'
import type { ChaosStorage, ChaosStorageOptions, DeadLetterMessage, StoragePorts } from './chaos-storage.ts'
import { startRestartableEmulators } from './restartable-emulators.ts'

const COUNTS = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible', 'ApproximateNumberOfMessagesDelayed'] as const

/** The AWS adapters on emulators; faults occur below the SDK's own retries. */
export async function startAwsChaosStorage({ history, faults, isDurable }: ChaosStorageOptions): Promise<ChaosStorage> {
  const emulators = await startRestartableEmulators(history, { isDurable })
  const { region, credentials, endpoints } = emulators
  const reliableClients = createStorageClients({ region, credentials, endpoints })
  const faultyClients = createStorageClients({ region, credentials, endpoints })
  injectFaults(faultyClients, faults)
  const resources = await createResources(reliableClients)
  const { queueUrls, deadLetterUrls } = resources
  const portsOf = ({ dynamodb, s3, sqs }: StorageClients): StoragePorts => {
    const objects = createS3ObjectStore({ client: s3, bucket: resources.bucket })
    return {
      objects,
      table: createDynamoTable({ client: dynamodb, tableName: resources.tableName, objects }),
      queue: createSqsQueue({ client: sqs, queueUrls }),
    }
  }
  const { sqs } = reliableClients

  return {
    faulty: portsOf(faultyClients),
    reliable: portsOf(reliableClients),
    consumer: createSqsConsumer({ client: faultyClients.sqs, queueUrls, deadLetterUrls }),
    carriesText: true,
    address: { region, credentials, endpoints, resources },

    async sendText(queue, text) {
      // SQS accepts no empty body, so a space stands for it.
      await sqs.send(new SendMessageCommand({ QueueUrl: queueUrls[queue], MessageBody: text === '' ? ' ' : text }))
    },

    async deadLetters(queue, count, timeoutMs) {
      const QueueUrl = deadLetterUrls[queue]
      const messages: DeadLetterMessage[] = []
      for (const until = Date.now() + timeoutMs; messages.length < count && Date.now() < until;) {
        const { Messages = [] } = await sqs.send(
          new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1, VisibilityTimeout: 900 }),
        )
        for (const { Body = '', ReceiptHandle } of Messages)
          messages.push({ body: Body, remove: async () => void (await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))) })
      }
      return messages
    },

    async pendingMessages() {
      const answers = await Promise.all(
        QUEUES.map((queue) => sqs.send(new GetQueueAttributesCommand({ QueueUrl: queueUrls[queue], AttributeNames: [...COUNTS] }))),
      )
      return answers.flatMap(({ Attributes = {} }) => Object.values(Attributes).map(Number)).reduce((sum, count) => sum + count, 0)
    },

    async restart(downMs) {
      await emulators.restart(downMs)
      await createResources(reliableClients)
    },

    async stop() {
      reliableClients.close()
      faultyClients.close()
      await emulators.stop()
    },
  }
}
