import { BoundedCache } from '../../../model/bounded-cache.ts'
import { DescribeTasksCommand, ListTasksCommand, type ECSClient, type Task } from '@aws-sdk/client-ecs'

/** Maximum number of tasks per DescribeTasks call. */
const PAGE = 100
/** Maximum number of remembered ARNs. */
const MAX_ARNS = 2_048

/** ECS filters by `startedBy` alone or by family and status, never by both, so a stopped task takes a second search. */
export class TaskFinder {
  readonly #ecs: ECSClient
  readonly #cluster: string
  readonly #families: readonly string[]
  readonly #arns = new BoundedCache<string, string>(MAX_ARNS)

  constructor(ecs: ECSClient, cluster: string, families: readonly string[]) {
    this.#ecs = ecs
    this.#cluster = cluster
    this.#families = families
  }

  /** The sandbox's task, also a stopped one for about an hour; undefined when ECS does not list it yet or no longer lists it. */
  async find(sandboxId: string): Promise<Task | undefined> {
    const known = this.#arns.get(sandboxId)
    const [seen] = known === undefined ? [] : await this.#describePage([known])
    const task = seen ?? (await this.#search(sandboxId))
    if (task?.taskArn !== undefined) this.remember(sandboxId, task.taskArn)
    return task
  }

  /** The tasks of these ARNs, 100 in each call; one that ECS does not show is missing. */
  async describe(arns: readonly string[]): Promise<ReadonlyMap<string, Task>> {
    const found = new Map<string, Task>()
    // Sequential calls: all reads of an account share one rate limit.
    for (let at = 0; at < arns.length; at += PAGE)
      for (const task of await this.#describePage(arns.slice(at, at + PAGE))) if (task.taskArn !== undefined) found.set(task.taskArn, task)
    return found
  }

  /** Tasks that ECS wants to run, of every task definition, except those in `known`. */
  running(known: ReadonlySet<string>): AsyncIterable<Task> {
    return this.#ofFamilies('RUNNING', known)
  }

  /** The ARN of a task that ECS wants to run and may not show yet. */
  async arnOf(sandboxId: string): Promise<string | undefined> {
    return this.#arns.get(sandboxId) ?? (await this.#runningArn(sandboxId))
  }

  /** Records the ARN that RunTask returned, which saves a search. */
  remember(sandboxId: string, arn: string): void {
    this.#arns.set(sandboxId, arn)
  }

  async #search(sandboxId: string): Promise<Task | undefined> {
    const arn = await this.#runningArn(sandboxId)
    const [task] = await this.#describePage(arn === undefined ? [] : [arn])
    if (task) return task
    for await (const stopped of this.#ofFamilies('STOPPED')) if (stopped.startedBy === sandboxId) return stopped
    return undefined
  }

  async *#ofFamilies(desiredStatus: 'RUNNING' | 'STOPPED', known: ReadonlySet<string> = new Set()): AsyncGenerator<Task> {
    const cluster = this.#cluster
    for (const family of this.#families) {
      let nextToken: string | undefined
      do {
        const page = await this.#ecs.send(
          new ListTasksCommand({ cluster, family, desiredStatus, maxResults: PAGE, ...(nextToken !== undefined && { nextToken }) }),
        )
        yield* await this.#describePage((page.taskArns ?? []).filter((arn) => !known.has(arn)))
        nextToken = page.nextToken
      } while (nextToken !== undefined)
    }
  }

  async #describePage(tasks: string[]): Promise<Task[]> {
    if (tasks.length === 0) return []
    return (await this.#ecs.send(new DescribeTasksCommand({ cluster: this.#cluster, tasks }))).tasks ?? []
  }

  async #runningArn(sandboxId: string): Promise<string | undefined> {
    return (await this.#ecs.send(new ListTasksCommand({ cluster: this.#cluster, startedBy: sandboxId }))).taskArns?.[0]
  }
}
