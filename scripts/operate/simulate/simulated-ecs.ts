import type { ECSClient, Task } from '@aws-sdk/client-ecs'
import { TokenBucket } from './token-bucket.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What AWS documents: burst and calls per second of an account and Region. */
export const ECS_LIMITS = {
  /** DescribeTasks and ListTasks together. */
  read: { burst: 100, perSecond: 20 },
  /** RunTask and StopTask together. */
  modify: { burst: 100, perSecond: 40 },
  /** Tasks that Fargate starts, whatever call asks. */
  launch: { burst: 100, perSecond: 20 },
} as const

/** Assumptions where AWS documents nothing: measured by users, or chosen on the careful side. */
export const ECS_MODEL = {
  callMs: { read: [30, 70], modify: [150, 400] },
  /** From RunTask until the task runs. */
  startMs: [45_000, 70_000],
  /** Until reads show a new task. */
  visibleMs: [500, 2_000],
  eventDelayMs: [300, 2_000],
  eventLost: 0.01,
  eventTwice: 0.05,
  noCapacity: 0.002,
  failedStart: 0.002,
  /** From a stop request until the task has stopped. */
  stopMs: [10_000, 40_000],
  sdkAttempts: 3,
} as const

interface SimulatedTask {
  task: Task
  readonly visibleAt: number
  /** When it reached RUNNING, simulated ms. */
  runningSince: number | null
}

export interface EcsCounts {
  calls: Record<string, number>
  throttled: Record<string, number>
  /** When each accepted start was accepted (simulated ms). */
  readonly launches: number[]
}

type Input = Readonly<Record<string, unknown>>
const CLUSTER = 'arn:aws:ecs:eu-west-1:123456789012:cluster/simulated'
const IDS = 'arn:aws:ecs:eu-west-1:123456789012:task/simulated'

export interface SimulatedEcsOptions {
  readonly time: VirtualTime
  readonly random: () => number
  readonly onEvent: (event: object) => void
  /** Divides every limit of ECS; default 1. */
  readonly scale?: number | undefined
}

class EcsError extends Error {
  constructor(name: string, message: string) {
    super(message)
    this.name = name
  }
}

/** ECS with AWS's documented token buckets, eventual consistency, start times, failures, and events that are late, doubled or lost. */
export class SimulatedEcs {
  readonly counts: EcsCounts = { calls: {}, throttled: {}, launches: [] }
  readonly #time: VirtualTime
  readonly #random: () => number
  readonly #onEvent: (event: object) => void
  readonly #buckets: Record<keyof typeof ECS_LIMITS, TokenBucket>
  readonly #tasks = new Map<string, SimulatedTask>()
  readonly #running = new Set<string>()
  readonly #pages = new Map<string, readonly string[]>()
  #addresses = 0

  constructor(options: SimulatedEcsOptions) {
    this.#time = options.time
    this.#random = options.random
    this.#onEvent = options.onEvent
    const { scale = 1 } = options
    const bucket = (name: keyof typeof ECS_LIMITS) =>
      new TokenBucket(Math.max(1, ECS_LIMITS[name].burst / scale), ECS_LIMITS[name].perSecond / scale, options.time.now)
    this.#buckets = { read: bucket('read'), modify: bucket('modify'), launch: bucket('launch') }
  }

  /** Speaks the part of the SDK's client that the driver uses, with its retries. */
  readonly client = {
    send: async (command: { readonly constructor: { readonly name: string }; readonly input: Input }) => {
      const action = command.constructor.name.replace(/Command$/, '')
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.#call(action, command.input)
        } catch (error) {
          if (!(error instanceof EcsError && error.name === 'ThrottlingException') || attempt >= ECS_MODEL.sdkAttempts) throw error
          await this.#time.sleep(this.#random() * 500 * 2 ** (attempt - 1))
        }
      }
    },
  } as unknown as ECSClient

  get runningTasks(): number {
    return this.#running.size
  }

  /** Ends a running task as a platform fault does. Returns the id of its sandbox; null when none runs. */
  kill(): string | null {
    const candidates = [...this.#running].filter((arn) => typeof this.#tasks.get(arn)?.runningSince === 'number')
    const arn = candidates[Math.floor(this.#random() * candidates.length)]
    const known = arn === undefined ? undefined : this.#tasks.get(arn)
    if (arn === undefined || known === undefined) return null
    this.#end(arn, known, { stopCode: 'EssentialContainerExited', stoppedReason: 'Essential container in task exited', exitCode: 137 })
    return known.task.startedBy ?? null
  }

  isRunning(sandboxId: string): boolean {
    const known = this.#tasks.get(`${IDS}/${sandboxId}`)
    return known !== undefined && known.runningSince !== null && known.task.desiredStatus === 'RUNNING'
  }

  runningSince(sandboxId: string): number {
    return this.#tasks.get(`${IDS}/${sandboxId}`)?.runningSince ?? this.#time.now()
  }

  async #call(action: string, input: Input): Promise<object> {
    const isRead = action === 'DescribeTasks' || action === 'ListTasks'
    this.counts.calls[action] = (this.counts.calls[action] ?? 0) + 1
    await this.#time.sleep(this.#between(isRead ? ECS_MODEL.callMs.read : ECS_MODEL.callMs.modify))
    if (!this.#buckets[isRead ? 'read' : 'modify'].take() || (action === 'RunTask' && !this.#buckets.launch.take())) {
      this.counts.throttled[action] = (this.counts.throttled[action] ?? 0) + 1
      throw new EcsError('ThrottlingException', 'Rate exceeded')
    }
    switch (action) {
      case 'RunTask':
        return this.#runTask(input)
      case 'StopTask':
        return this.#stopTask(String(input['task']))
      case 'DescribeTasks':
        return this.#describe(input['tasks'] as readonly string[])
      case 'ListTasks':
        return this.#list(input)
      default:
        throw new EcsError('InvalidParameterException', `The simulation has no ${action}.`)
    }
  }

  #runTask(input: Input): object {
    const startedBy = String(input['startedBy'])
    const arn = `${IDS}/${startedBy}`
    const known = this.#tasks.get(arn)
    if (known !== undefined) return { tasks: [known.task], failures: [] }
    if (this.#random() < ECS_MODEL.noCapacity)
      return {
        tasks: [],
        failures: [{ reason: 'Capacity is unavailable at this time. Please try again later or in a different availability zone' }],
      }
    const now = this.#time.now()
    this.counts.launches.push(now)
    const task: Task = {
      taskArn: arn,
      clusterArn: CLUSTER,
      startedBy,
      lastStatus: 'PROVISIONING',
      desiredStatus: 'RUNNING',
      containers: [{}],
    }
    const entry: SimulatedTask = { task, visibleAt: now + this.#between(ECS_MODEL.visibleMs), runningSince: null }
    this.#tasks.set(arn, entry)
    this.#running.add(arn)
    this.#time.after(this.#between(ECS_MODEL.startMs), () => this.#begin(arn, entry))
    return { tasks: [task], failures: [] }
  }

  #begin(arn: string, entry: SimulatedTask): void {
    if (entry.task.desiredStatus === 'STOPPED') return
    if (this.#random() < ECS_MODEL.failedStart)
      return this.#end(arn, entry, { stopCode: 'TaskFailedToStart', stoppedReason: 'CannotPullContainerError: i/o timeout' })
    const address = ++this.#addresses
    const privateIpv4Address = `10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`
    entry.runningSince = this.#time.now()
    entry.task = {
      ...entry.task,
      lastStatus: 'RUNNING',
      containers: [{ lastStatus: 'RUNNING', networkInterfaces: [{ privateIpv4Address }] }],
    }
    this.#emit(entry.task)
  }

  #end(
    arn: string,
    entry: SimulatedTask,
    { exitCode, ...stop }: { stopCode: Task['stopCode']; stoppedReason: string; exitCode?: number },
  ): void {
    this.#running.delete(arn)
    const containers = [{ lastStatus: 'STOPPED', ...(exitCode === undefined ? {} : { exitCode }) }]
    entry.task = { ...entry.task, ...stop, containers, desiredStatus: 'STOPPED', lastStatus: 'DEPROVISIONING' }
    this.#emit(entry.task)
    this.#time.after(this.#between(ECS_MODEL.stopMs), () => {
      entry.task = { ...entry.task, lastStatus: 'STOPPED' }
      this.#emit(entry.task)
    })
    this.#time.after(3_600_000, () => this.#tasks.delete(arn))
  }

  #stopTask(arn: string): object {
    const known = this.#tasks.get(arn)
    if (known === undefined) throw new EcsError('InvalidParameterException', 'The referenced task was not found.')
    if (known.task.desiredStatus === 'RUNNING')
      this.#end(arn, known, { stopCode: 'UserInitiated', stoppedReason: 'Task stopped by user', exitCode: 143 })
    return { task: known.task }
  }

  #describe(arns: readonly string[]): object {
    const shown = arns.map((arn) => [arn, this.#visible(arn)] as const)
    return {
      tasks: shown.flatMap(([, task]) => task ?? []),
      failures: shown.flatMap(([arn, task]) => (task === undefined ? [{ arn, reason: 'MISSING' }] : [])),
    }
  }

  #visible(arn: string): Task | undefined {
    const known = this.#tasks.get(arn)
    return known !== undefined && known.visibleAt <= this.#time.now() ? known.task : undefined
  }

  #list({ startedBy, desiredStatus = 'RUNNING', nextToken }: Input): object {
    if (startedBy !== undefined) {
      const task = this.#visible(`${IDS}/${startedBy as string}`)
      return { taskArns: task !== undefined && task.desiredStatus === desiredStatus ? [task.taskArn] : [] }
    }
    // The pages of one listing are of one moment.
    const rest = nextToken === undefined ? this.#listed(String(desiredStatus)) : (this.#pages.get(nextToken as string) ?? [])
    this.#pages.delete(nextToken as string)
    if (rest.length <= 100) return { taskArns: rest }
    const token = crypto.randomUUID()
    this.#pages.set(token, rest.slice(100))
    return { taskArns: rest.slice(0, 100), nextToken: token }
  }

  #listed(desiredStatus: string): string[] {
    const arns = desiredStatus === 'RUNNING' ? [...this.#running] : [...this.#tasks.keys()].filter((arn) => !this.#running.has(arn))
    return arns.filter((arn) => this.#visible(arn) !== undefined)
  }

  /** The same selection as the two rules of the deployment make. */
  #emit(task: Task): void {
    const isSelected = task.desiredStatus === 'STOPPED' || task.lastStatus === 'RUNNING'
    if (!isSelected || this.#random() < ECS_MODEL.eventLost) return
    const event = { 'detail-type': 'ECS Task State Change', source: 'aws.ecs', detail: task }
    const times = this.#random() < ECS_MODEL.eventTwice ? 2 : 1
    for (let time = 0; time < times; time++) this.#time.after(this.#between(ECS_MODEL.eventDelayMs), () => this.#onEvent(event))
  }

  #between([from, to]: readonly [number, number]): number {
    return from + this.#random() * (to - from)
  }
}
