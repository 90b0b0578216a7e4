import { DescribeTasksCommand, type ECSClient } from '@aws-sdk/client-ecs'
import type { SandboxStore } from '../../../services/ports/sandbox-store.ts'
import { ok, warn, type Finding } from '../finding.ts'
import { reasonOf } from './service-calls.ts'

const CHECK = 'Task events'
/** An event takes a second or two. Without events a pass of the reconciler finds a started task, on average half a minute later. */
const LATE_MS = 5_000
/** Of one DescribeTasks. */
const MAX_TASKS = 100

/** Whether the service learns of started tasks by event: the time from a task's start, as ECS states it, to the row that says so. */
export async function checkTaskEvents(options: {
  readonly sandboxes: Pick<SandboxStore, 'all'>
  readonly ecs: ECSClient
  readonly cluster: string
}): Promise<Finding> {
  const { sandboxes, ecs, cluster } = options
  try {
    const rows = (await sandboxes.all())
      .filter(({ readyAt, platformId }) => readyAt !== null && platformId !== undefined)
      .toSorted((a, b) => b.createdAt - a.createdAt)
      .slice(0, MAX_TASKS)
    if (rows.length === 0) return warn(CHECK, 'not checked: the service runs no sandbox.')
    const { tasks = [] } = await ecs.send(new DescribeTasksCommand({ cluster, tasks: rows.flatMap(({ platformId }) => platformId ?? []) }))
    const startedAt = new Map(tasks.map((task) => [task.taskArn, task.startedAt?.getTime()]))
    const delays = rows
      .flatMap(({ platformId, readyAt }) => {
        const started = startedAt.get(platformId)
        return started === undefined || readyAt === null ? [] : [Math.max(0, readyAt - started)]
      })
      .toSorted((a, b) => a - b)
    const median = delays[Math.floor(delays.length / 2)]
    if (median === undefined) return warn(CHECK, 'not checked: ECS states no start time of a sandbox.')
    const seconds = `${(median / 1000).toFixed(1)} s`
    return median <= LATE_MS
      ? ok(CHECK, `the service learned of a started task after ${seconds} (median of ${delays.length})`)
      : warn(
          CHECK,
          `The service learned of a started task after ${seconds} (median of ${delays.length}), as it does without events. Check the rules SandboxRuns and SandboxEnds in EventBridge.`,
        )
  } catch (error) {
    return warn(CHECK, `could not be read (${reasonOf(error)}): these credentials need to read the table and ecs:DescribeTasks.`)
  }
}
