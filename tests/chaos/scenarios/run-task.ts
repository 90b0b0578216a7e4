import { singleImage } from '../../../services/model/containers/images.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { measure } from '../../../services/model/metrics.ts'
import type { SandboxLink } from '../../../services/ports/sandbox-link.ts'
import type { WideEvent } from '../../../services/model/wide-event.ts'
import { GONE_KEPT_MS } from '../../../services/workers/place/fail-unanswered.ts'
import { createFargateDriver } from '../../../services/adapters/drivers/fargate/fargate-driver.ts'
import { startScriptedEcs, type Action, type Json, type ScriptedEcs } from '../../support/scripted-ecs.ts'
import { withDuplicates, startWorkerPool, waitUntilEnded } from '../harness/worker-pool.ts'
import { seeded } from '../../support/seeded.ts'
import { startHarness, type Harness } from '../harness/harness.ts'
import { acceptMany, observeAll } from './many-jobs.ts'
import type { Scenario } from './scenario.ts'

const JOBS = 400
const PER_CONTAINER = 2
const MAX_COPIES = 3
const TIMEOUT_MS = 600_000
/** A task that the platform denied is found when the row of its failed start is removed. */
const STOPPED_TIMEOUT_MS = GONE_KEPT_MS + 120_000
const FAIL_FAST_TIMEOUT_MS = 30_000
const POLL_MS = 100
/** Applies to leases and the reconciler only; the queues and the SDK use wall time. */
const SHORT_SPEED = 10
/** Share of calls per action that get a disturbed reply. */
const RATES: Readonly<Partial<Record<Action, number>>> = { RunTask: 0.4, DescribeTasks: 0.2, ListTasks: 0.1, StopTask: 0.2 }
/** The allowed outcomes of a failed start. `stopped`: another delivery of the message cancelled it. */
const TYPED: readonly unknown[] = ['capacity', 'throttled', 'unavailable', 'stopped']

const refusal = (status: number, type: string, message: string) => ({ status, body: { __type: type, message } })
const throttle = refusal(400, 'ThrottlingException', 'Rate exceeded')
const broken = refusal(500, 'ServerException', 'Service is temporarily unavailable.')
const nothing = (reason: string) => ({ status: 200, body: { tasks: [], failures: [{ reason }] } })
/** Replies as ECS sends them. */
const REPLIES: Readonly<Partial<Record<Action, readonly ReturnType<ScriptedEcs['disturb']>[]>>> = {
  RunTask: [
    nothing('Capacity is unavailable at this time. Please try again later or in a different availability zone'),
    nothing('RESOURCE:ENI'),
    nothing('RESOURCE:MEMORY'),
    refusal(400, 'ClientException', "You've reached the limit on the number of vCPUs you can run concurrently"),
    refusal(400, 'LimitExceededException', 'The limit for the resource was exceeded.'),
    throttle,
    broken,
    'reply_lost',
    'reply_lost',
  ],
  DescribeTasks: [{ status: 200, body: { tasks: [], failures: [{ reason: 'MISSING' }] } }, throttle, broken],
  ListTasks: [{ status: 200, body: { taskArns: [] } }, throttle],
  StopTask: [throttle, broken, 'reply_lost'],
}
const conflict = (arn: string) => ({
  status: 400,
  body: { __type: 'ConflictException', message: 'The clientToken is in use with a different request.', resourceIds: [arn] },
})

/** Connects ECS tasks to scripted sandboxes and replaces a share of the replies by failures. */
function disturbed(harness: Harness, ecs: ScriptedEcs): { readonly link: SandboxLink } {
  const random = seeded(38)
  let isFirst = true
  const environmentOf = (input: Json): Readonly<Record<string, string>> => {
    const { containerOverrides } = input['overrides'] as { containerOverrides: { environment: { name: string; value: string }[] }[] }
    return Object.fromEntries((containerOverrides[0]?.environment ?? []).map(({ name, value }) => [name, value]))
  }
  ecs.exits = (input) => {
    const { CELLBLOCK_SANDBOX_ID: sandboxId = '', CELLBLOCK_PUBLIC_KEY: publicKey = '' } = environmentOf(input)
    void harness.platform.driver.start({ sandboxId, publicKey, memoryTier: '1g', isAwaited: true }, AbortSignal.timeout(60_000))
    return null
  }
  ecs.disturb = (action, input) => {
    const arn = `arn:aws:ecs:eu-west-1:1:task/c/${String(input['clientToken'])}`
    const replies = REPLIES[action] ?? []
    // The first start is always refused, so that every run has a failed start.
    const isRefused = action === 'RunTask' && isFirst
    if (isRefused) isFirst = false
    const drawn = random() < (RATES[action] ?? 0) ? (replies[Math.floor(random() * replies.length)] ?? null) : null
    const reply = isRefused ? (replies[0] ?? null) : drawn
    // A repeated client token of an existing task gets a conflict.
    const disturbedReply = action === 'RunTask' && reply !== null && ecs.tasks.has(arn) ? conflict(arn) : reply
    if (disturbedReply !== null)
      harness.history.add({ type: 'fault', service: 'ecs', kind: disturbedReply === 'reply_lost' ? disturbedReply : action })
    const isDone = disturbedReply === null || disturbedReply === 'reply_lost'
    if (action === 'StopTask' && isDone) void harness.platform.kill(String(ecs.tasks.get(String(input['task']))?.startedBy))
    return disturbedReply
  }
  const sandboxAt = (host: string): string | undefined =>
    [...ecs.tasks.values()].find((task) => task.attachments?.[0]?.details?.some(({ value }) => value === host))?.startedBy
  const { link } = harness.reliablePorts
  return {
    link: {
      // Maps each task address to the socket of its sandbox.
      request: (address, request, signal) => {
        const sandbox = address.kind === 'tcp' ? harness.platform.alive.get(sandboxAt(address.host) ?? '') : undefined
        return link.request({ kind: 'unix', socketPath: sandbox?.socketPath ?? '/nonexistent' }, request, signal)
      },
      upgrade: () => Promise.reject(new Error('These containers have no network.')),
      close: () => link.close(),
    },
  }
}

/** RunTask is refused, out of capacity, over a quota, or loses replies; DescribeTasks misses running tasks. Driver and SDK are real. */
export const runTask: Scenario = {
  name: 'run-task',
  thresholds: ['D-38'],
  async run({ scale, log, failFast = false }) {
    const [harness, ecs] = await Promise.all([startHarness(), startScriptedEcs({ maxAttempts: 3 })])
    const driver = createFargateDriver({
      ecs: ecs.client,
      cluster: 'c',
      images: singleImage('repo/sandbox:1'),
      subnets: ['subnet-a'],
      securityGroups: ['sg-1'],
      pollMs: POLL_MS,
      taskDefinitions: { slim: { '1g': 'cellblock-sandbox-1g:1' } },
    })
    const emitted: WideEvent[] = []
    // Each start message is delivered at least twice, as an at-least-once queue may do.
    const queue = withDuplicates(harness.reliablePorts.queue, seeded(39), MAX_COPIES, 0)
    const ports = { ...harness.reliablePorts, queue, driver, link: disturbed(harness, ecs).link }
    const telemetry = { emit: (event: WideEvent) => void emitted.push(event) }
    const pool = startWorkerPool(harness, { workers: 2, speed: scale < 0.05 ? SHORT_SPEED : 1, ports, telemetry })
    try {
      const jobs = await acceptMany(harness, Math.max(12, Math.round(JOBS * scale)), harness.reliablePorts.queue, {
        perContainer: PER_CONTAINER,
      })
      const failures = (await waitUntilEnded(harness, jobs, TIMEOUT_MS)).map((job) => `${job.execution} is stuck`)
      await observeAll(harness, jobs)
      for (const { tenant, container } of jobs) await harness.reliablePorts.table.containers.markDeleted(tenant, container, Date.now())
      const tasks = () => [...ecs.tasks.values()].filter((task) => task.desiredStatus === 'RUNNING')
      const running = () => tasks().length
      for (const until = Date.now() + (failFast ? FAIL_FAST_TIMEOUT_MS : STOPPED_TIMEOUT_MS); running() > 0 && Date.now() < until;)
        await delay(POLL_MS)
      for (const { startedBy } of tasks()) {
        const sandbox = await harness.reliablePorts.table.sandboxes.get(String(startedBy))
        failures.push(
          `the task of ${startedBy} still runs; its row: ${JSON.stringify(sandbox, ['state', 'createdAt', 'launchedAt', 'claimedAt', 'dueAt'])}`,
        )
      }

      const attempts = [...ecs.tasks.values()].map((task) => task.startedBy)
      if (new Set(attempts).size < attempts.length) failures.push('a sandbox has two tasks')
      const failed = emitted.filter((event) => event.event === 'sandbox_start' && event.outcome !== 'ready' && event.outcome !== 'unwanted')
      const failedStarts = emitted.flatMap(measure).filter(({ name }) => name === 'SandboxStartFailed').length
      const untyped = failed.filter(({ outcome }) => outcome !== 'ready_before' && !TYPED.includes(outcome))
      if (failedStarts === 0) failures.push('no start failed, or the failures were not measured')
      for (const { outcome, detail } of untyped) failures.push(`a start ended ${outcome}: ${String(detail)}`)
      const notSucceeded = harness.history.entries.filter((entry) => entry.type === 'observed' && entry.status !== 'succeeded')
      for (const entry of notSucceeded)
        if (entry.type === 'observed') failures.push(`${entry.execution} ended ${entry.status} ${entry.reason}`)
      log(`run-task: ${jobs.length} jobs, ${attempts.length} tasks, ${failedStarts} failed starts`)
      const replies = harness.history.entries.filter((entry) => entry.type === 'fault').length
      const figures = {
        tasks: attempts.length,
        bad_replies: replies,
        failed_starts: failedStarts,
        run_task_calls: ecs.calls.filter(({ action }) => action === 'RunTask').length,
      }
      return { histories: [harness.history], failures, figures }
    } finally {
      await pool.stop()
      await harness.stop()
      await ecs.close()
    }
  },
}
