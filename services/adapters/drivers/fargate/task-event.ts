import * as z from 'zod'
import type { SandboxChange } from '../../../ports/sandbox-driver.ts'
import { isId } from '../../../model/ids.ts'
import { taskStatus } from './task-status.ts'

/** What EventBridge delivers for a task whose state changed; `detail` has the fields of DescribeTasks, without the health status. */
const TaskStateChange = z.object({
  'detail-type': z.literal('ECS Task State Change'),
  detail: z.object({
    taskArn: z.string(),
    startedBy: z.string(),
    lastStatus: z.string(),
    desiredStatus: z.string(),
    stopCode: z.string().optional(),
    stoppedReason: z.string().optional(),
    containers: z
      .array(
        z.object({
          name: z.string().optional(),
          exitCode: z.number().optional(),
          reason: z.string().optional(),
          networkInterfaces: z.array(z.object({ privateIpv4Address: z.string().optional() })).optional(),
        }),
      )
      .optional(),
    attachments: z
      .array(
        z.object({
          type: z.string().optional(),
          details: z.array(z.object({ name: z.string().optional(), value: z.string().optional() })).optional(),
        }),
      )
      .optional(),
  }),
})

/** The sandbox and its status in a task state change; null for another event and for a task that is no sandbox. */
export function readTaskEvent(event: unknown): SandboxChange | null {
  const parsed = TaskStateChange.safeParse(event)
  if (!parsed.success) return null
  const { detail } = parsed.data
  if (!isId('sandbox', detail.startedBy)) return null
  return { sandboxId: detail.startedBy, platformId: detail.taskArn, status: taskStatus(detail as Parameters<typeof taskStatus>[0], false) }
}
