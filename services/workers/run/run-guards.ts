import type { Execution } from '../../model/executions/execution.ts'
import { extendLease } from '../../jobs/lease.ts'
import { startLeaseHeartbeat, type LeaseHeartbeat } from '../../jobs/lease-heartbeat.ts'
import type { RunDeps } from '../deps.ts'
import { anySignal } from './any-signal.ts'
import { watchSandbox } from './sandboxes/watch-sandbox.ts'
import type { SandboxSession } from '../../model/sandboxes/sandbox.ts'

/** Signals that stop a run in a sandbox before the code has ended. */
export interface RunGuards {
  readonly lease: LeaseHeartbeat
  /** Aborts when the sandbox no longer answers health checks. */
  readonly silence: AbortSignal
  /** Aborts when the step's time is used up and the next step must continue. */
  readonly budget: AbortSignal
  /** Aborts with the lease or with the sandbox. */
  readonly signal: AbortSignal
  stop(): void
}

export function startRunGuards(
  { table, clock, supervisor, stepBudgetMs }: Pick<RunDeps, 'table' | 'clock' | 'supervisor' | 'stepBudgetMs'>,
  execution: Execution,
  session: SandboxSession,
): RunGuards {
  const lease = startLeaseHeartbeat({
    id: execution.id,
    clock,
    renew: (expiresAt) => extendLease(table.executions, execution, expiresAt),
  })
  const silence = new AbortController()
  const watch = watchSandbox(
    (signal) => supervisor.health(session.address, 0, signal),
    () => silence.abort(),
  )
  const budget = new AbortController()
  const timer = setTimeout(() => budget.abort(), stepBudgetMs)
  return {
    lease,
    silence: silence.signal,
    budget: budget.signal,
    signal: anySignal(lease.signal, silence.signal),
    stop: () => {
      clearTimeout(timer)
      watch.stop()
      lease.stop()
    },
  }
}
