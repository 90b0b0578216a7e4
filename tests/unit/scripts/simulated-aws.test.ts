import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DescribeTasksCommand, ListTasksCommand, RunTaskCommand, StopTaskCommand, type Task } from '@aws-sdk/client-ecs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import { MAX_RECEIVES } from '../../../services/model/messages.ts'
import { openSqlite } from '../../../services/adapters/storage/sqlite/open-sqlite.ts'
import { createTable } from '../../../services/adapters/storage/rows/table.ts'
import { NO_OBJECTS } from '../../../scripts/cli/rows-only.ts'
import { SimulatedEcs } from '../../../scripts/operate/simulate/simulated-ecs.ts'
import { SimulatedLambda, TooManyRequestsError } from '../../../scripts/operate/simulate/simulated-lambda.ts'
import { SimulatedQueues } from '../../../scripts/operate/simulate/simulated-queues.ts'
import { SimulatedTable } from '../../../scripts/operate/simulate/simulated-table.ts'
import { seededRandom, VirtualTime } from '../../../scripts/operate/simulate/virtual-time.ts'
import { sandboxRow } from '../../support/rows.ts'

const MINUTE = 60_000
/** No random fault happens: every share of faults is below a half. */
const half = (): number => 0.5

describe('the simulated ECS', () => {
  const open = (random = half) => {
    const time = new VirtualTime(0)
    const events: { readonly detail: Task }[] = []
    return { time, events, ecs: new SimulatedEcs({ time, random, onEvent: (event) => void events.push(event as { detail: Task }) }) }
  }
  const run = (ecs: SimulatedEcs) => ecs.client.send(new RunTaskCommand({ taskDefinition: 't', startedBy: newId('sandbox') }))
  const arnOf = async (started: ReturnType<typeof run>): Promise<string> => String((await started).tasks?.[0]?.taskArn)

  it('accepts 20 calls of RunTask at once and 20 more each second', async () => {
    const { time, ecs } = open()
    let accepted = 0
    for (let call = 0; call < 100; call++)
      void run(ecs).then(
        () => (accepted += 1),
        () => undefined,
      )
    // A call takes 275 ms here, and the client repeats throttled calls later.
    await time.runUntil(290)
    expect(accepted).toBe(20)
    await time.runUntil(MINUTE)
    expect(accepted).toBeGreaterThan(30)
    expect(ecs.counts.throttled['RunTask']).toBeGreaterThan(70)
  })

  it('shows a new task and a change of it some moments later', async () => {
    const { time, ecs } = open()
    const started = run(ecs)
    await time.runUntil(300)
    const arn = await arnOf(started)
    const shown = async (): Promise<string> => {
      const described = ecs.client.send(new DescribeTasksCommand({ tasks: [arn] }))
      await time.runUntil(time.now() + 100)
      const { tasks, failures } = await described
      return String(tasks?.[0]?.lastStatus ?? failures?.[0]?.reason)
    }
    expect(await shown()).toBe('MISSING')
    await time.runUntil(5_000)
    expect(await shown()).toBe('PROVISIONING')
    // It runs after 57.5 s.
    await time.runUntil(58_000)
    expect([ecs.runningTasks, await shown()]).toEqual([1, 'PROVISIONING'])
    await time.runUntil(60_000)
    expect(await shown()).toBe('RUNNING')
  })

  it('gives a task that is being stopped its exit code when it has ended', async () => {
    const { time, ecs, events } = open()
    const started = run(ecs)
    await time.runUntil(70_000)
    void ecs.client.send(new StopTaskCommand({ task: await arnOf(started) }))
    await time.runUntil(75_000)
    const state = () => [events.at(-1)?.detail.lastStatus, events.at(-1)?.detail.containers?.[0]?.exitCode]
    expect(state()).toEqual(['STOPPING', undefined])
    await time.runUntil(120_000)
    expect(state()).toEqual(['STOPPED', 143])
  })

  it('refuses to describe more than 100 tasks, and lists 100 per page', async () => {
    const { time, ecs } = open()
    const tasks = Array.from({ length: 101 }, (_, number) => `arn/${number}`)
    const refused = expect(ecs.client.send(new DescribeTasksCommand({ tasks }))).rejects.toThrow('100 items')
    await time.runUntil(1_000)
    await refused
    for (let count = 0; count < 110; count++) {
      void run(ecs)
      await time.runUntil(time.now() + 100)
    }
    await time.runUntil(time.now() + 5_000)
    const page = async (nextToken?: string) => {
      const listed = ecs.client.send(new ListTasksCommand({ nextToken }))
      await time.runUntil(time.now() + 100)
      return listed
    }
    const first = await page()
    expect([first.taskArns?.length, (await page(first.nextToken)).taskArns?.length]).toEqual([100, 10])
  })
})

describe('the simulated Lambda', () => {
  const open = (options: ConstructorParameters<typeof SimulatedLambda>[2] = {}) => {
    const time = new VirtualTime(0)
    const lambda = new SimulatedLambda(time, half, options)
    /** A function that works for so many ms. */
    const define = (name: string, timeoutMs = 10 * MINUTE) => lambda.define(name, { timeoutMs }, () => (ms: number) => time.sleep(ms))
    const outcomes: string[] = []
    const note = (name: string, work: Promise<unknown>): void =>
      void work.then(
        () => outcomes.push(`${name} done`),
        (error: Error) => outcomes.push(`${name} ${error.name}`),
      )
    return { time, lambda, define, outcomes, note }
  }

  it('refuses an invocation beyond the concurrency of the account', async () => {
    const { time, lambda, define, outcomes, note } = open({ concurrent: 2 })
    const invoke = define('run')
    for (const name of ['a', 'b', 'c']) note(name, invoke(5_000))
    await time.runUntil(1_000)
    expect(outcomes).toEqual(['c TooManyRequestsException'])
    expect(lambda.counts.throttled).toBe(1)
    await time.runUntil(MINUTE)
    expect(outcomes.slice(1)).toEqual(['a done', 'b done'])
  })

  it('keeps reserved concurrency for its function, which has no more', async () => {
    const { time, define, outcomes, note } = open({ concurrent: 3, reserved: { api: 2 } })
    const [api, run] = [define('api'), define('run')]
    for (const name of ['api 1', 'api 2', 'api 3']) note(name, api(5_000))
    for (const name of ['run 1', 'run 2']) note(name, run(5_000))
    await time.runUntil(MINUTE)
    expect(outcomes.slice(0, 2)).toEqual(['api 3 TooManyRequestsException', 'run 2 TooManyRequestsException'])
    expect(outcomes.slice(2)).toEqual(['api 1 done', 'api 2 done', 'run 1 done'])
  })

  it('ends an invocation at its time-out, and starts new environments after a while without use', async () => {
    const { time, lambda, define, outcomes, note } = open()
    const invoke = define('run', 2_000)
    note('slow', invoke(9_000))
    await time.runUntil(10_000)
    expect([outcomes, lambda.counts.timedOut]).toEqual([['slow Error'], 1])
    for (const at of [20_000, 21_000, 21_000 + 10 * MINUTE]) {
      note('quick', invoke(10))
      await time.runUntil(at)
    }
    // Of the slow one, which was discarded; of the first quick one; and of the last, after ten minutes.
    note('late', invoke(10))
    await time.runUntil(30 * MINUTE)
    expect([outcomes.at(-1), lambda.counts.coldStarts]).toEqual(['late done', 3])
  })

  it('repeats an asynchronous invocation twice after a failure, and for hours while there is no capacity', async () => {
    const { time, lambda, define, note } = open({ concurrent: 1 })
    const attempts: number[] = []
    const failing = lambda.define('reconciler', { timeoutMs: MINUTE }, () => async () => {
      attempts.push(Math.round(time.now() / 1_000))
      throw new Error('fault')
    })
    void lambda.invokeAsync(failing, {}, () => undefined)
    await time.runUntil(10 * MINUTE)
    expect(attempts).toHaveLength(3)
    note('long', define('run')(5 * MINUTE))
    let isDone = false
    void lambda.invokeAsync(define('other'), 10, () => undefined).then(() => (isDone = true))
    await time.runUntil(14 * MINUTE)
    expect(isDone).toBe(false)
    await time.runUntil(25 * MINUTE)
    expect(isDone).toBe(true)
  })
})

describe('the simulated queues', () => {
  const MESSAGE = { v: 1, type: 'sandbox.refill' } as const
  const open = (
    invoke: (bodies: readonly string[], time: VirtualTime) => Promise<readonly number[]>,
    random = half,
    maxConcurrency = 1_000,
  ) => {
    const time = new VirtualTime(0)
    const queues = new SimulatedQueues(time, random)
    queues.consume({ queue: 'placements', maxConcurrency, batchSize: 1, invoke: (bodies) => invoke(bodies, time) })
    const send = async (count: number): Promise<void> => {
      for (let sent = 0; sent < count; sent++) void queues.send('placements', MESSAGE, {})
      await time.runUntil(time.now() + 20)
    }
    return { time, queues, send }
  }

  it('are received by five pollers at first, and 60 more each minute up to the maximum', async () => {
    let active = 0
    const { time, send } = open(
      async (_, at) => {
        active += 1
        await at.sleep(60 * MINUTE)
        return []
      },
      half,
      100,
    )
    await send(2_000)
    await time.runUntil(500)
    expect(active).toBe(5)
    await time.runUntil(MINUTE)
    expect(active).toBeGreaterThan(60)
    expect(active).toBeLessThanOrEqual(65)
    await time.runUntil(10 * MINUTE)
    expect(active).toBe(100)
  })

  it('hide a failed message for the visibility timeout, and drop it after the last receive', async () => {
    const received: number[] = []
    const { time, queues, send } = open(async (bodies, at) => {
      received.push(Math.floor(at.now() / MINUTE))
      return bodies.map((_, place) => place)
    })
    await send(1)
    await time.runUntil(100 * MINUTE)
    expect(received).toEqual([0, 15, 30, 45, 60])
    expect([queues.counts.deadLetters, received.length]).toEqual([1, MAX_RECEIVES])
  })

  it('repeat an invocation that found no capacity until the message is visible again, which counts as a receive', async () => {
    const at: number[] = []
    const { time, queues, send } = open(async (_, clock) => {
      at.push(clock.now())
      throw new TooManyRequestsError('Rate Exceeded.')
    })
    await send(1)
    await time.runUntil(14 * MINUTE)
    expect(at.length).toBeGreaterThan(10)
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBe(1_000)
    await time.runUntil(80 * MINUTE)
    expect(queues.counts.deadLetters).toBe(1)
  })

  it('deliver some messages twice', async () => {
    const { time, queues, send } = open(async () => [], seededRandom(3))
    await send(5_000)
    await time.runUntil(30 * MINUTE)
    expect(queues.counts.duplicates).toBeGreaterThan(0)
    expect(queues.counts.duplicates).toBeLessThan(50)
  })
})

describe('the simulated table', () => {
  let folder: string
  let opened: Awaited<ReturnType<typeof openSqlite>>
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cellblock-simulated-'))
    opened = await openSqlite(join(folder, 'rows.sqlite'), { isDurable: false })
  })
  afterEach(async () => {
    await opened.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('accepts as many writes of sandboxes each second as one partition of an index, and the client repeats the others', async () => {
    const time = new VirtualTime(0)
    const simulated = new SimulatedTable(opened.items, { time, random: seededRandom(1) })
    const { sandboxes } = createTable(simulated.connect(), NO_OBJECTS)
    let written = 0
    for (let count = 0; count < 700; count++) void sandboxes.create(sandboxRow()).then(() => (written += 1))
    await time.runUntil(100)
    // A write of a row of up to two kilobytes takes two of the thousand units, and a tenth of a second brings a hundred more.
    expect(simulated.counts.throttled).toBeGreaterThanOrEqual(200)
    expect(written).toBeGreaterThan(400)
    expect(written).toBeLessThanOrEqual(550)
    await time.runUntil(10_000)
    expect([written, simulated.counts.failed]).toEqual([700, 0])
  })

  it('of a smaller model accepts as many writes at once, and fewer per second', async () => {
    const time = new VirtualTime(0)
    const simulated = new SimulatedTable(opened.items, { time, random: seededRandom(1), scale: 20 })
    const accepted = (): number => Array.from({ length: 5_000 }, () => simulated.take({ writes: 1 })).filter(Boolean).length
    expect(accepted()).toBe(4_000)
    await time.runUntil(1_000)
    expect(accepted()).toBe(200)
  })
})
