import { DescribeTasksCommand, ListTasksCommand, type ECSClient, type Task } from '@aws-sdk/client-ecs'

/** Maximum number of tasks per DescribeTasks call. */
const PAGE = 100

export interface TaskFinder {
  /** The sandbox's task, also a stopped one for about an hour; undefined when ECS does not list it yet or no longer lists it. */
  find(sandboxId: string): Promise<Task | undefined>
  /** The tasks of these ARNs, 100 in each call; one that ECS does not show is missing. */
  describe(arns: readonly string[]): Promise<ReadonlyMap<string, Task>>
  /** Tasks that ECS wants to run, of every task definition, except those in `known`. */
  running(known: ReadonlySet<string>): AsyncIterable<Task>
  /** The ARN of a task that ECS wants to run and may not show yet. */
  arnOf(sandboxId: string): Promise<string | undefined>
  /** Records the ARN that RunTask returned, which saves a search. */
  remember(sandboxId: string, arn: string): void
}

/** ECS filters by `startedBy` alone or by family and status, never by both, so a stopped task takes a second search. */
export function createTaskFinder(ecs: ECSClient, cluster: string, families: readonly string[]): TaskFinder {
  const arns = new Map<string, string>()

  const describe = async (tasks: string[]): Promise<Task[]> =>
    tasks.length === 0 ? [] : ((await ecs.send(new DescribeTasksCommand({ cluster, tasks }))).tasks ?? [])

  async function describeAll(tasks: readonly string[]): Promise<Map<string, Task>> {
    const found = new Map<string, Task>()
    // Sequential calls: all reads of an account share one rate limit.
    for (let at = 0; at < tasks.length; at += PAGE)
      for (const task of await describe(tasks.slice(at, at + PAGE))) if (task.taskArn !== undefined) found.set(task.taskArn, task)
    return found
  }

  async function* ofFamilies(desiredStatus: 'RUNNING' | 'STOPPED', known: ReadonlySet<string> = new Set()): AsyncGenerator<Task> {
    for (const family of families) {
      let nextToken: string | undefined
      do {
        const page = await ecs.send(
          new ListTasksCommand({ cluster, family, desiredStatus, maxResults: PAGE, ...(nextToken !== undefined && { nextToken }) }),
        )
        yield* await describe((page.taskArns ?? []).filter((arn) => !known.has(arn)))
        nextToken = page.nextToken
      } while (nextToken !== undefined)
    }
  }

  const runningArn = async (sandboxId: string): Promise<string | undefined> =>
    (await ecs.send(new ListTasksCommand({ cluster, startedBy: sandboxId }))).taskArns?.[0]

  const search = async (sandboxId: string): Promise<Task | undefined> => {
    const arn = await runningArn(sandboxId)
    const [task] = await describe(arn === undefined ? [] : [arn])
    if (task) return task
    for await (const stopped of ofFamilies('STOPPED')) if (stopped.startedBy === sandboxId) return stopped
    return undefined
  }

  const remember = (sandboxId: string, arn: string): void => {
    if (arns.size >= 2_048)
      for (const oldest of arns.keys()) {
        arns.delete(oldest)
        break
      }
    arns.set(sandboxId, arn)
  }

  const find = async (sandboxId: string): Promise<Task | undefined> => {
    const known = arns.get(sandboxId)
    const [seen] = known === undefined ? [] : await describe([known])
    const task = seen ?? (await search(sandboxId))
    if (task?.taskArn !== undefined) remember(sandboxId, task.taskArn)
    return task
  }

  return {
    find,
    arnOf: async (sandboxId) => arns.get(sandboxId) ?? (await runningArn(sandboxId)),
    describe: describeAll,
    running: (known) => ofFamilies('RUNNING', known),
    remember,
  }
}
