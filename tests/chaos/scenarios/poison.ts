import { setTimeout as delay } from 'node:timers/promises'
import { ReceiveMessageCommand, SendMessageCommand, DeleteMessageCommand } from '@aws-sdk/client-sqs'
import { MAX_RECEIVES } from '../../../services/core/messages.ts'
import { createDeadLetterStep } from '../../../services/orchestrator/dead-letters.ts'
import type { Job } from '../history.ts'
import { startCrew, untilEnded } from '../world/crew.ts'
import { startWorld, type World } from '../world/world.ts'
import { acceptMany, seeAll } from './many-jobs.ts'
import type { Scenario } from './scenario.ts'

const NEIGHBOURS = 200
const PATIENCE_MS = 120_000
const DEEP = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
/** Bodies that no worker can use. */
const JUNK: readonly string[] = [
  'not json',
  '',
  '{}',
  '[]',
  'null',
  '{"v":2,"type":"execution.step","tenant":"tnt_x","executionId":"exec_x","containerId":"cntr_x"}',
  '{"v":1,"type":"unheard.of","tenant":"tnt_x"}',
  `{"v":1,"type":"execution.step","tenant":${JSON.stringify('x'.repeat(200_000))},"executionId":1}`,
  DEEP,
  '{"__proto__":{"v":1}}',
]

async function send(world: World, body: string): Promise<void> {
  // SQS takes no empty body; a space is the least.
  const MessageBody = body === '' ? ' ' : body
  await world.clean.sqs.send(new SendMessageCommand({ QueueUrl: world.resources.queueUrls.executions, MessageBody }))
}

interface DeadLetter {
  readonly body: string
  readonly receives: number
  readonly remove: () => Promise<void>
}

/** Dead letters as they come, until so many are there. */
async function deadLetters(world: World, count: number): Promise<readonly DeadLetter[]> {
  const QueueUrl = world.resources.deadLetterUrls.executions
  const letters: DeadLetter[] = []
  for (const until = Date.now() + PATIENCE_MS; letters.length < count && Date.now() < until;) {
    const { Messages = [] } = await world.clean.sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 1,
        VisibilityTimeout: 900,
        MessageSystemAttributeNames: ['ApproximateReceiveCount'],
      }),
    )
    for (const { Body = '', ReceiptHandle, Attributes } of Messages) {
      const remove = async (): Promise<void> => void (await world.clean.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle })))
      letters.push({ body: Body, receives: Number(Attributes?.ApproximateReceiveCount), remove })
    }
  }
  return letters
}

/** Messages that no worker can use, code that takes its worker along, code whose text is gone: and their neighbours. */
export const poison: Scenario = {
  name: 'poison',
  bars: ['D-34'],
  async run({ scale, say }) {
    const world = await startWorld()
    const complaints: string[] = []
    const crashing = new Set<string>()
    const crew = startCrew(world, { workers: 2, speed: 1, ports: world.clean, refuses: (execution) => crashing.has(execution) })
    const dead = (job: Job): string => job.execution
    try {
      const jobs = await acceptMany(world, Math.max(10, Math.round(NEIGHBOURS * scale)), world.clean.queue)
      const [crasher, redriven] = [await acceptBad(world, crashing), await acceptBad(world, crashing)]
      await Promise.all(JUNK.map((body) => send(world, body)))
      for (const job of await untilEnded(world, jobs, PATIENCE_MS)) complaints.push(`the neighbour ${job.execution} is stuck`)

      // A nudge by the reconciler is one more message for the same job, so there may be more letters than jobs.
      const letters = await deadLetters(world, JUNK.length + 2)
      const junk = letters.filter(({ body }) => !body.includes('"exec_0'))
      if (junk.length !== JUNK.length) complaints.push(`${junk.length} of ${JUNK.length} unusable messages became dead letters`)

      const bury = createDeadLetterStep((crew.workers[0] as (typeof crew.workers)[number]).placing)
      for (const letter of letters) if (!letter.body.includes(dead(redriven))) await bury('executions', letter.body)
      const row = await world.clean.table.executions.get(crasher.tenant, crasher.execution)
      if (row?.status !== 'failed' || row.reason !== 'dead_letter') complaints.push(`the crashing job is ${row?.status} ${row?.reason}`)

      // The operator has mended what was wrong and sends the letter back.
      crashing.clear()
      const letter = letters.find(({ body }) => body.includes(dead(redriven)))
      if (letter !== undefined) await send(world, letter.body)
      for (const job of await untilEnded(world, [redriven, crasher], PATIENCE_MS))
        complaints.push(`${job.execution} is stuck after the redrive`)
      await delay(100)
      const again = await world.clean.table.executions.get(redriven.tenant, redriven.execution)
      if (again?.status !== 'succeeded') complaints.push(`the redriven job is ${again?.status} ${again?.reason}`)
      await seeAll(world, [...jobs, redriven])
      say(`poison: ${letters.length} dead letters, ${jobs.length} neighbours`)
      const figures = { dead_letters: letters.length, tries_each: MAX_RECEIVES, neighbours: jobs.length }
      return { histories: [world.history], faults: complaints, figures }
    } finally {
      await crew.stop()
      await world.stop()
    }
  },
}

async function acceptBad(world: World, crashing: Set<string>): Promise<Job> {
  const container = await world.newContainer()
  const waiting: (() => Promise<void>)[] = []
  // The message goes only when it is known that its code is bad.
  const queue: World['clean']['queue'] = {
    ...world.clean.queue,
    send: async (...args) => void waiting.push(() => world.clean.queue.send(...args)),
  }
  const job = await world.accept(container, { through: queue })
  crashing.add(job.execution)
  for (const sendNow of waiting) await sendNow()
  return job
}
