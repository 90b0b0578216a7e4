import type { Task } from '@aws-sdk/client-ecs'
import type { SandboxStatus } from '../../../ports/sandbox-driver.ts'
import { exitReason } from '../exit-reason.ts'
import { SANDBOX_CONTAINER } from './config.ts'

export const SUPERVISOR_PORT = 8700

/** The fields of a task that its status follows from. */
export type ShownTask = Pick<
  Task,
  'lastStatus' | 'desiredStatus' | 'healthStatus' | 'stopCode' | 'stoppedReason' | 'containers' | 'attachments'
>

/** DescribeTasks uses the first name for a network interface, events the second. */
const INTERFACE_TYPES: ReadonlySet<string> = new Set(['ElasticNetworkInterface', 'eni'])

/** What DescribeTasks, or an event of the task's state, shows. `waitsForHealth`: the task definition has a health check, so RUNNING alone is not ready. */
export function taskStatus(task: ShownTask, waitsForHealth: boolean): SandboxStatus {
  const exitCode = sandboxContainer(task)?.exitCode ?? null
  const host = privateAddress(task)
  if (isInterrupted(task) && exitCode === null && host !== undefined)
    return { phase: 'ready', address: { kind: 'tcp', host, port: SUPERVISOR_PORT }, isInterrupted: true }
  // The exit code arrives after the stop request. Without the code and the reason, the status is not known yet.
  if (task.lastStatus === 'STOPPED' || (task.desiredStatus === 'STOPPED' && (exitCode !== null || task.stopCode !== undefined)))
    return goneStatus(task, exitCode)
  const isUp = task.lastStatus === 'RUNNING' && (!waitsForHealth || task.healthStatus === 'HEALTHY')
  return isUp && host !== undefined ? { phase: 'ready', address: { kind: 'tcp', host, port: SUPERVISOR_PORT } } : { phase: 'starting' }
}

/** AWS takes the capacity of a Spot task back: it announces the stop two minutes before, while the task still runs. */
const isInterrupted = ({ lastStatus, desiredStatus, stopCode }: ShownTask): boolean =>
  lastStatus === 'RUNNING' && desiredStatus === 'STOPPED' && (stopCode === 'SpotInterruption' || stopCode === 'TerminationNotice')

function goneStatus(task: ShownTask, exitCode: number | null): SandboxStatus {
  const detail = [task.stoppedReason, sandboxContainer(task)?.reason].filter(Boolean).join(' ').slice(0, 400)
  const byExit = exitReason(exitCode, /OutOfMemory/i.test(detail))
  const reason = byExit === 'lost' && task.stopCode === 'UserInitiated' ? 'stopped' : byExit
  return { phase: 'gone', reason, exitCode, ...(detail !== '' && { detail }) }
}

const sandboxContainer = ({ containers }: ShownTask): NonNullable<ShownTask['containers']>[number] | undefined =>
  containers?.find(({ name }) => name === SANDBOX_CONTAINER)

const privateAddress = (task: ShownTask): string | undefined =>
  task.attachments
    ?.find((attachment) => attachment.type !== undefined && INTERFACE_TYPES.has(attachment.type))
    ?.details?.find((detail) => detail.name === 'privateIPv4Address')?.value ??
  sandboxContainer(task)?.networkInterfaces?.[0]?.privateIpv4Address
