import type { Task } from '@aws-sdk/client-ecs'
import type { SandboxStatus } from '../../../core/ports/sandbox-driver.ts'
import { exitReason } from '../exit-reason.ts'

export const SUPERVISOR_PORT = 8700

/** What one read of DescribeTasks shows. `waitsForHealth`: the task definition has a health check, so RUNNING alone is not ready. */
export function taskStatus(task: Task, waitsForHealth: boolean): SandboxStatus {
  const exitCode = task.containers?.[0]?.exitCode ?? null
  // The exit code arrives a little after the stop request; until either it or the reason is there, nothing is known yet.
  if (task.lastStatus === 'STOPPED' || (task.desiredStatus === 'STOPPED' && (exitCode !== null || task.stopCode !== undefined)))
    return goneStatus(task, exitCode)
  const host = privateAddress(task)
  const isUp = task.lastStatus === 'RUNNING' && (!waitsForHealth || task.healthStatus === 'HEALTHY')
  return isUp && host !== undefined ? { phase: 'ready', address: { kind: 'tcp', host, port: SUPERVISOR_PORT } } : { phase: 'starting' }
}

function goneStatus(task: Task, exitCode: number | null): SandboxStatus {
  const detail = [task.stoppedReason, task.containers?.[0]?.reason].filter(Boolean).join(' ').slice(0, 400)
  const byExit = exitReason(exitCode, /OutOfMemory/i.test(detail))
  const reason = byExit === 'lost' && task.stopCode === 'UserInitiated' ? 'stopped' : byExit
  return { phase: 'gone', reason, exitCode, ...(detail !== '' && { detail }) }
}

const privateAddress = (task: Task): string | undefined =>
  task.attachments
    ?.find((attachment) => attachment.type === 'ElasticNetworkInterface')
    ?.details?.find((detail) => detail.name === 'privateIPv4Address')?.value ??
  task.containers?.[0]?.networkInterfaces?.[0]?.privateIpv4Address
