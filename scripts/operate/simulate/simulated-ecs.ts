import type { ECSClient, Task } from '@aws-sdk/client-ecs'
import { between, DESCRIBED_TASKS, ECS_LIMITS, ECS_MODEL, EVENT_MODEL } from './aws-limits.ts'
import { TokenBucket } from './token-bucket.ts'
import type { VirtualTime } from './virtual-time.ts'

interface SimulatedTask {
  task: Task
  /** What reads show, some moments later; undefined: not listed yet. */
  shown: Task | undefined
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
  /** Tasks that ListTasks shows, by their desired status. */
  readonly #listed = { RUNNING: new Set<string>(), STOPPED: new Set<string>() }
  readonly #pages = new Map<string, readonly string[]>()
  readonly #sandboxes = new Map<string, string>()

  constructor(options: SimulatedEcsOptions) {
    this.#time = options.time
    this.#random = options.random
    this.#onEvent = options.onEvent
    const { scale = 1 } = options
    const bucket = (name: keyof typeof ECS_LIMITS) => TokenBucket.scaled(ECS_LIMITS[name], scale, options.time.now)
    this.#buckets = { read: bucket('read'), modify: bucket('modify'), runTask: bucket('runTask'), launch: bucket('launch') }
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

  /** The sandbox whose task has this address. */
  sandboxAt(host: string): string | undefined {
    return this.#sandboxes.get(host)
  }

  async #call(action: string, input: Input): Promise<object> {
    const isRead = action === 'DescribeTasks' || action === 'ListTasks'
    this.counts.calls[action] = (this.counts.calls[action] ?? 0) + 1
    await this.#time.sleep(this.#between(isRead ? ECS_MODEL.callMs.read : ECS_MODEL.callMs.modify))
    const buckets = action === 'RunTask' ? (['modify', 'runTask', 'launch'] as const) : ([isRead ? 'read' : 'modify'] as const)
    if (!buckets.every((name) => this.#buckets[name].take())) {
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
      containers: [{ name: 'sandbox' }],
    }
    const entry: SimulatedTask = { task, shown: undefined, runningSince: null }
    this.#tasks.set(arn, entry)
    this.#change(arn, entry, task)
    this.#running.add(arn)
    this.#time.after(this.#between(ECS_MODEL.startMs), () => this.#begin(arn, entry))
    return { tasks: [task], failures: [] }
  }

  #begin(arn: string, entry: SimulatedTask): void {
    if (entry.task.desiredStatus === 'STOPPED') return
    if (this.#random() < ECS_MODEL.failedStart)
      return this.#end(arn, entry, { stopCode: 'TaskFailedToStart', stoppedReason: 'CannotPullContainerError: i/o timeout' })
    const address = this.#sandboxes.size + 1
    const privateIpv4Address = `10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`
    entry.runningSince = this.#time.now()
    this.#sandboxes.set(privateIpv4Address, entry.task.startedBy ?? '')
    this.#change(arn, entry, {
      ...entry.task,
      lastStatus: 'RUNNING',
      containers: [{ name: 'sandbox', lastStatus: 'RUNNING', networkInterfaces: [{ privateIpv4Address }] }],
    })
    this.#emit(entry.task)
  }

  /** Reads are eventually consistent: they show a change some moments later. */
  #change(arn: string, entry: SimulatedTask, task: Task): void {
    entry.task = task
    this.#time.after(this.#between(ECS_MODEL.visibleMs), () => {
      // A change that was shown earlier, although it was made later, stays.
      if (entry.task !== task && entry.shown?.desiredStatus === 'STOPPED') return
      entry.shown = task
      this.#listed.RUNNING[task.desiredStatus === 'RUNNING' ? 'add' : 'delete'](arn)
      if (task.desiredStatus === 'STOPPED') this.#listed.STOPPED.add(arn)
    })
  }

  /** A container that has ended by itself has its exit code at once; one that is being stopped gets it when it has ended. */
  #end(
    arn: string,
    entry: SimulatedTask,
    { exitCode, ...stop }: { stopCode: Task['stopCode']; stoppedReason: string; exitCode?: number },
  ): void {
    this.#running.delete(arn)
    const ended = [{ name: 'sandbox', lastStatus: 'STOPPED', ...(exitCode === undefined ? {} : { exitCode }) }]
    const isStopping = stop.stopCode === 'UserInitiated'
    const containers = isStopping ? entry.task.containers : ended
    this.#change(arn, entry, {
      ...entry.task,
      ...stop,
      containers,
      desiredStatus: 'STOPPED',
      lastStatus: isStopping ? 'STOPPING' : 'DEPROVISIONING',
    })
    this.#emit(entry.task)
    this.#time.after(this.#between(ECS_MODEL.stopMs), () => {
      this.#change(arn, entry, { ...entry.task, containers: ended, lastStatus: 'STOPPED' })
      this.#emit(entry.task)
    })
    this.#time.after(3_600_000, () => {
      this.#tasks.delete(arn)
      this.#listed.STOPPED.delete(arn)
    })
  }

  #stopTask(arn: string): object {
    const known = this.#tasks.get(arn)
    if (known === undefined) throw new EcsError('InvalidParameterException', 'The referenced task was not found.')
    if (known.task.desiredStatus === 'RUNNING')
      this.#end(arn, known, { stopCode: 'UserInitiated', stoppedReason: 'Task stopped by user', exitCode: 143 })
    return { task: known.task }
  }

  #describe(arns: readonly string[]): object {
    if (arns.length > DESCRIBED_TASKS) throw new EcsError('InvalidParameterException', 'Tasks can have at most 100 items.')
    const shown = arns.map((arn) => [arn, this.#visible(arn)] as const)
    return {
      tasks: shown.flatMap(([, task]) => task ?? []),
      failures: shown.flatMap(([arn, task]) => (task === undefined ? [{ arn, reason: 'MISSING' }] : [])),
    }
  }

  #visible(arn: string): Task | undefined {
    return this.#tasks.get(arn)?.shown
  }

  #list({ startedBy, desiredStatus = 'RUNNING', nextToken }: Input): object {
    if (startedBy !== undefined) {
      const task = this.#visible(`${IDS}/${startedBy as string}`)
      return { taskArns: task !== undefined && task.desiredStatus === desiredStatus ? [task.taskArn] : [] }
    }
    // The pages of one listing are of one moment.
    const rest =
      nextToken === undefined
        ? [...this.#listed[desiredStatus === 'STOPPED' ? 'STOPPED' : 'RUNNING']]
        : (this.#pages.get(nextToken as string) ?? [])
    this.#pages.delete(nextToken as string)
    if (rest.length <= 100) return { taskArns: rest }
    const token = crypto.randomUUID()
    this.#pages.set(token, rest.slice(100))
    return { taskArns: rest.slice(0, 100), nextToken: token }
  }

  /** The same selection as the two rules of the deployment make. */
  #emit(task: Task): void {
    const isSelected = task.desiredStatus === 'STOPPED' || task.lastStatus === 'RUNNING'
    if (!isSelected || this.#random() < EVENT_MODEL.lost) return
    const event = { 'detail-type': 'ECS Task State Change', source: 'aws.ecs', detail: task }
    const times = this.#random() < EVENT_MODEL.twice ? 2 : 1
    for (let time = 0; time < times; time++) {
      const delay = this.#random() < EVENT_MODEL.late ? EVENT_MODEL.lateMs : EVENT_MODEL.delayMs
      this.#time.after(this.#between(delay), () => this.#onEvent(event))
    }
  }

  #between(range: readonly [number, number]): number {
    return between(this.#random, range)
  }
}
