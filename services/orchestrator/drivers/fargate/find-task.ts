import { DescribeTasksCommand, ListTasksCommand, type ECSClient, type Task } from '@aws-sdk/client-ecs'

/** DescribeTasks takes so many at once. */
const PAGE = 100

export interface TaskFinder {
  /** The sandbox's task, also a stopped one for about an hour; undefined when ECS shows none (yet, or any more). */
  find(sandboxId: string): Promise<Task | undefined>
  /** Tasks that ECS wants to run, of every task definition. */
  running(): AsyncIterable<Task>
  /** The ARN of a task that may not be shown yet. */
  arnOf(sandboxId: string): Promise<string | undefined>
  /** Spares a search: RunTask has just returned it. */
  remember(sandboxId: string, arn: string): void
}

/** ECS filters by `startedBy` alone or by family and status, never by both, so a stopped task takes a second search. */
export function createTaskFinder(ecs: ECSClient, cluster: string, families: readonly string[]): TaskFinder {
  const arns = new Map<string, string>()

  const describe = async (tasks: string[]): Promise<Task[]> =>
    tasks.length === 0 ? [] : ((await ecs.send(new DescribeTasksCommand({ cluster, tasks }))).tasks ?? [])

  async function* ofFamilies(desiredStatus: 'RUNNING' | 'STOPPED'): AsyncGenerator<Task> {
    for (const family of families) {
      let nextToken: string | undefined
      do {
        const page = await ecs.send(
          new ListTasksCommand({ cluster, family, desiredStatus, maxResults: PAGE, ...(nextToken !== undefined && { nextToken }) }),
        )
        yield* await describe(page.taskArns ?? [])
        nextToken = page.nextToken
      } while (nextToken !== undefined)
    }
  }

  const search = async (sandboxId: string): Promise<Task | undefined> => {
    const { taskArns = [] } = await ecs.send(new ListTasksCommand({ cluster, startedBy: sandboxId }))
    const [task] = await describe(taskArns.slice(0, 1))
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
    arnOf: async (sandboxId) => arns.get(sandboxId) ?? (await find(sandboxId))?.taskArn,
    running: () => ofFamilies('RUNNING'),
    remember,
  }
}
