import { setTimeout as delay } from 'node:timers/promises'
import { measure } from '../../../services/core/metrics.ts'
import type { SandboxLink } from '../../../services/core/ports/sandbox-link.ts'
import type { WideEvent } from '../../../services/core/ports/telemetry.ts'
import { createFargateDriver } from '../../../services/orchestrator/drivers/fargate/fargate-driver.ts'
import { startScriptedEcs, type Action, type Json, type ScriptedEcs } from '../../integration/scripted-ecs.ts'
import { duplicating, startCrew, untilEnded } from '../world/crew.ts'
import { seeded } from '../world/faults.ts'
import { startWorld, type World } from '../world/world.ts'
import { acceptMany, seeAll } from './many-jobs.ts'
import type { Scenario } from './scenario.ts'

const JOBS = 400
const PER_CONTAINER = 2
const MAX_COPIES = 3
const PATIENCE_MS = 600_000
const SWEPT_MS = 180_000
const HURRIED_MS = 30_000
const POLL_MS = 100
/** Only leases and the reconciler: the queues and the SDK keep their own time. */
const SHORT_SPEED = 10
/** Share of the calls of each action that ECS answers so. */
const RATES: Readonly<Partial<Record<Action, number>>> = { RunTask: 0.4, DescribeTasks: 0.2, ListTasks: 0.1, StopTask: 0.2 }
/** What a failed start may be called; `stopped`: another delivery of it gave it up. `configuration` is nobody's fault here, `error` has no type. */
const TYPED: readonly unknown[] = ['capacity', 'throttled', 'unavailable', 'stopped']

const refusal = (status: number, type: string, message: string) => ({ status, body: { __type: type, message } })
const throttle = refusal(400, 'ThrottlingException', 'Rate exceeded')
const broken = refusal(500, 'ServerException', 'Service is temporarily unavailable.')
const nothing = (reason: string) => ({ status: 200, body: { tasks: [], failures: [{ reason }] } })
/** In ECS's own words. */
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

/** ECS whose tasks are scripted sandboxes, and which answers as it does on a bad day. */
function disturbed(world: World, ecs: ScriptedEcs): { readonly link: SandboxLink } {
  const random = seeded(38)
  let isFirst = true
  const environmentOf = (input: Json): Readonly<Record<string, string>> => {
    const { containerOverrides } = input['overrides'] as { containerOverrides: { environment: { name: string; value: string }[] }[] }
    return Object.fromEntries((containerOverrides[0]?.environment ?? []).map(({ name, value }) => [name, value]))
  }
  ecs.exits = (input) => {
    const { CELLBLOCK_SANDBOX_ID: sandboxId = '', CELLBLOCK_PUBLIC_KEY: publicKey = '' } = environmentOf(input)
    void world.fleet.driver.start({ sandboxId, publicKey, memoryTier: '1g', isAwaited: true }, AbortSignal.timeout(60_000))
    return null
  }
  ecs.disturb = (action, input) => {
    const arn = `arn:aws:ecs:eu-west-1:1:task/c/${String(input['clientToken'])}`
    const replies = REPLIES[action] ?? []
    // The very first start is refused, so that there is always one.
    const isRefused = action === 'RunTask' && isFirst
    if (isRefused) isFirst = false
    const drawn = random() < (RATES[action] ?? 0) ? (replies[Math.floor(random() * replies.length)] ?? null) : null
    const reply = isRefused ? (replies[0] ?? null) : drawn
    // Who asks again with the token of a task that exists may be told so.
    const said = action === 'RunTask' && reply !== null && ecs.tasks.has(arn) ? conflict(arn) : reply
    if (said !== null) world.history.add({ type: 'fault', service: 'ecs', kind: said === 'reply_lost' ? said : action })
    const isDone = said === null || said === 'reply_lost'
    if (action === 'StopTask' && isDone) void world.fleet.kill(String(ecs.tasks.get(String(input['task']))?.startedBy))
    return said
  }
  const sandboxAt = (host: string): string | undefined =>
    [...ecs.tasks.values()].find((task) => task.attachments?.[0]?.details?.some(({ value }) => value === host))?.startedBy
  const { link } = world.clean
  return {
    link: {
      // Addresses in a network of their own: each leads to the socket of the sandbox that has it.
      request: (address, request, signal) => {
        const sandbox = address.kind === 'tcp' ? world.fleet.alive.get(sandboxAt(address.host) ?? '') : undefined
        return link.request({ kind: 'unix', socketPath: sandbox?.socketPath ?? '/nobody' }, request, signal)
      },
      close: () => link.close(),
    },
  }
}

/** RunTask refuses, is full, is over a quota, loses its answers; DescribeTasks does not show what runs. The driver and the SDK are the real ones. */
export const runTask: Scenario = {
  name: 'run-task',
  bars: ['D-38'],
  async run({ scale, say, hurry = false }) {
    const [world, ecs] = await Promise.all([startWorld(), startScriptedEcs({ maxAttempts: 3 })])
    const driver = createFargateDriver({
      ecs: ecs.client,
      cluster: 'c',
      image: 'repo/sandbox:1',
      subnets: ['subnet-a'],
      securityGroups: ['sg-1'],
      pollMs: POLL_MS,
      taskDefinitions: { '1g': 'cellblock-sandbox-1g:1' },
    })
    const heard: WideEvent[] = []
    // Each start is asked for twice and more, as a queue that delivers at least once may do.
    const queue = duplicating(world.clean.queue, seeded(39), MAX_COPIES, 0)
    const ports = { ...world.clean, queue, driver, link: disturbed(world, ecs).link }
    const telemetry = { emit: (event: WideEvent) => void heard.push(event) }
    const crew = startCrew(world, { workers: 2, speed: scale < 0.05 ? SHORT_SPEED : 1, ports, telemetry })
    try {
      const jobs = await acceptMany(world, Math.max(12, Math.round(JOBS * scale)), world.clean.queue, { perContainer: PER_CONTAINER })
      const complaints = (await untilEnded(world, jobs, PATIENCE_MS)).map((job) => `${job.execution} is stuck`)
      await seeAll(world, jobs)
      for (const { tenant, container } of jobs) await world.clean.table.containers.markDeleted(tenant, container, Date.now())
      const running = () => [...ecs.tasks.values()].filter((task) => task.desiredStatus === 'RUNNING').length
      for (const until = Date.now() + (hurry ? HURRIED_MS : SWEPT_MS); running() > 0 && Date.now() < until;) await delay(POLL_MS)
      if (running() > 0) complaints.push(`${running()} tasks still run`)

      const attempts = [...ecs.tasks.values()].map((task) => task.startedBy)
      if (new Set(attempts).size < attempts.length) complaints.push('an attempt has two tasks')
      const failed = heard.filter((event) => event.event === 'sandbox_start' && event.outcome !== 'ready' && event.outcome !== 'unwanted')
      const alarmed = heard.flatMap(measure).filter(({ name }) => name === 'SandboxStartFailed').length
      const untyped = failed.filter(({ outcome }) => outcome !== 'ready_before' && !TYPED.includes(outcome))
      if (alarmed === 0) complaints.push('no start failed, or the alarm heard of none')
      for (const { outcome, detail } of untyped) complaints.push(`a start ended ${outcome}: ${String(detail)}`)
      const unlucky = world.history.entries.filter((entry) => entry.type === 'seen' && entry.status !== 'succeeded')
      for (const entry of unlucky) if (entry.type === 'seen') complaints.push(`${entry.execution} ended ${entry.status} ${entry.reason}`)
      say(`run-task: ${jobs.length} jobs, ${attempts.length} tasks, ${alarmed} failed starts`)
      const replies = world.history.entries.filter((entry) => entry.type === 'fault').length
      const figures = {
        tasks: attempts.length,
        bad_replies: replies,
        failed_starts: alarmed,
        run_task_calls: ecs.calls.filter(({ action }) => action === 'RunTask').length,
      }
      return { histories: [world.history], faults: complaints, figures }
    } finally {
      await crew.stop()
      await world.stop()
      await ecs.close()
    }
  },
}
