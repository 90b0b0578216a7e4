import { CreateQueueCommand, GetQueueAttributesCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createResources } from '../emulators/create-resources.ts'
import { deadLetterUrl, drainDeadLetters } from '../../services/adapters/storage/sqs/drain-dead-letters.ts'
import { queueDefinitions } from '../../services/adapters/storage/sqs/queue-definitions.ts'
import { createSqsQueue } from '../../services/adapters/storage/sqs/sqs-queue.ts'
import type { QueueName } from '../../services/model/messages.ts'
import { startAwsStorage, type AwsStorage } from '../emulators/start-aws-storage.ts'
import { executionMessage, queueContract } from './queue.ts'

let storage: AwsStorage
const arrived = new Map<QueueName, unknown[]>()
beforeAll(async () => void (storage = await startAwsStorage()))
afterAll(() => storage.stop())

queueContract(
  'SQS',
  () => storage.queue,
  async (queue) => {
    const { Messages = [] } = await storage.clients.sqs.send(
      new ReceiveMessageCommand({ QueueUrl: storage.resources.queueUrls[queue], MaxNumberOfMessages: 10 }),
    )
    const all = [...(arrived.get(queue) ?? []), ...Messages.map((message): unknown => JSON.parse(message.Body ?? ''))]
    arrived.set(queue, all)
    return all
  },
)

describe('SQS beyond the port', () => {
  it('uses the tenant as the message group, for fair queues', async () => {
    const sent: unknown[] = []
    const { sqs } = storage.clients
    const client = Object.assign(Object.create(sqs) as typeof sqs, { send: async ({ input }: { input: unknown }) => void sent.push(input) })
    const message = executionMessage()
    await createSqsQueue({ client, queueUrls: storage.resources.queueUrls }).send('executions', message, { group: message.tenant })
    expect(sent).toMatchObject([{ MessageGroupId: message.tenant }])
  })

  it('drains the dead letters that wait, keeps those whose handler failed, and does not wait for more', async () => {
    const client = storage.clients.sqs
    const { QueueUrl: queueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: `drained-${Date.now()}` }))
    for (let count = 0; count < 12; count++)
      await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: `message ${count}` }))
    const handled: string[] = []
    const drain = (fails: string) =>
      drainDeadLetters({ client, queueUrl }, async (messages) => {
        handled.push(...messages.map(({ body }) => body))
        return new Set(messages.filter(({ body }) => body === fails).map(({ messageId }) => messageId))
      })
    await drain('message 3')
    expect(new Set(handled).size).toBe(12)
    const attributes = new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] })
    expect((await client.send(attributes)).Attributes).toMatchObject({
      ApproximateNumberOfMessages: '0',
      ApproximateNumberOfMessagesNotVisible: '1',
    })
  })

  it('names dead-letter queues as their definitions do', () => {
    for (const { name, deadLetterName } of Object.values(queueDefinitions))
      expect(deadLetterUrl(`https://sqs.example/1/cellblock-prod-${name}`)).toBe(`https://sqs.example/1/cellblock-prod-${deadLetterName}`)
  })

  it('rejects a check when a queue is missing', async () => {
    const queueUrls = { ...storage.resources.queueUrls, turns: `${storage.emulators.endpoints.sqs}/000000000000/nowhere` }
    await expect(createSqsQueue({ client: storage.clients.sqs, queueUrls }).check()).rejects.toThrow()
  })

  it('can be created again without changes to names or messages', async () => {
    await storage.objects.put('kept', Buffer.from('x'), { contentType: 'text/plain' })
    await expect(createResources(storage.clients)).resolves.toEqual(storage.resources)
    expect(await storage.objects.head('kept')).toEqual({ bytes: 1 })
  })
})
