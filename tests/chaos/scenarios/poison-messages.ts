import { MAX_RECEIVES } from '../../../services/model/messages.ts'
import { createDeadLetterStep } from '../../../services/workers/reconcile/dead-letters.ts'
import type { Job } from '../history.ts'
import { startWorkerPool, waitUntilEnded } from '../harness/worker-pool.ts'
import { startHarness, type Harness } from '../harness/harness.ts'
import { acceptMany, observeAll } from './many-jobs.ts'
import type { Scenario } from './scenario.ts'

const HEALTHY_JOBS = 200
const TIMEOUT_MS = 120_000
const DEEP = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
/** Message bodies that no worker can handle. */
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

/** Sends messages that no worker can handle and jobs that crash their worker, among healthy jobs. */
export const poisonMessages: Scenario = {
  name: 'poison-messages',
  thresholds: ['D-34'],
  async run({ scale, log }) {
    const harness = await startHarness()
    const failures: string[] = []
    const crashing = new Set<string>()
    const pool = startWorkerPool(harness, {
      workers: 2,
      speed: 1,
      ports: harness.reliablePorts,
      crashesOn: (execution) => crashing.has(execution),
    })

    try {
      const jobs = await acceptMany(harness, Math.max(10, Math.round(HEALTHY_JOBS * scale)), harness.reliablePorts.queue)
      const [crasher, redriven] = [await acceptBad(harness, crashing), await acceptBad(harness, crashing)]
      const sentJunk = harness.storage.carriesText ? JUNK : []
      await Promise.all(sentJunk.map((text) => harness.storage.sendText('executions', text)))
      for (const job of await waitUntilEnded(harness, jobs, TIMEOUT_MS)) failures.push(`the healthy job ${job.execution} is stuck`)

      // The reconciler may send one more message for the same job, so there may be more messages than jobs.
      const messages = await harness.storage.deadLetters('executions', sentJunk.length + 2, TIMEOUT_MS)
      const junk = messages.filter(({ body }) => !body.includes('"exec_0'))
      if (junk.length !== sentJunk.length)
        failures.push(`${junk.length} of ${sentJunk.length} unusable messages reached the dead-letter queue`)

      const handleDeadLetter = createDeadLetterStep((pool.workers[0] as (typeof pool.workers)[number]).placing)
      for (const message of messages) if (!message.body.includes(redriven.execution)) await handleDeadLetter('executions', message.body)
      const crashed = await harness.reliablePorts.table.executions.get(crasher.tenant, crasher.execution)
      if (crashed?.status !== 'failed' || crashed.reason !== 'dead_letter')
        failures.push(`the crashing job is ${crashed?.status} ${crashed?.reason}`)

      // The operator fixes the cause and redrives the message.
      crashing.clear()
      const message = messages.find(({ body }) => body.includes(redriven.execution))
      if (message !== undefined) await harness.storage.sendText('executions', message.body)
      for (const job of await waitUntilEnded(harness, [redriven, crasher], TIMEOUT_MS))
        failures.push(`${job.execution} is stuck after the redrive`)

      const again = await harness.reliablePorts.table.executions.get(redriven.tenant, redriven.execution)
      if (again?.status !== 'succeeded') failures.push(`the redriven job is ${again?.status} ${again?.reason}`)
      await observeAll(harness, [...jobs, redriven])
      log(`poison-messages: ${messages.length} dead letters, ${jobs.length} healthy jobs`)
      const figures = { dead_letters: messages.length, tries_each: MAX_RECEIVES, healthy_jobs: jobs.length }
      return { histories: [harness.history], failures, figures }
    } finally {
      await pool.stop()
      await harness.stop()
    }
  },
}

async function acceptBad(harness: Harness, crashing: Set<string>): Promise<Job> {
  const container = await harness.newContainer()
  const waiting: (() => Promise<void>)[] = []
  // Send the message only after the job is marked as crashing.
  const queue: Harness['reliablePorts']['queue'] = {
    ...harness.reliablePorts.queue,
    send: async (...args) => void waiting.push(() => harness.reliablePorts.queue.send(...args)),
  }
  const job = await harness.accept(container, { through: queue })
  crashing.add(job.execution)
  for (const sendNow of waiting) await sendNow()
  return job
}
