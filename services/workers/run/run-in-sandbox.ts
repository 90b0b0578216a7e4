import { isHibernated, needsSync, type Container } from '../../model/containers/container.ts'
import type { Execution, Lost } from '../../model/executions/execution.ts'
import { OutputAssembler } from '../../model/executions/output-assembler.ts'
import { LinkError } from '../../ports/sandbox-link.ts'
import { SupervisorError, type NamespaceBudget, type NamespaceUsage, type SupervisorEnvelope } from '../../ports/supervisor.ts'
import type { SandboxSession } from '../../model/sandboxes/sandbox.ts'
import { executionLimitsOf } from '../../model/tenants/tenant-limits.ts'
import { commitLease } from '../../jobs/lease.ts'
import type { RunDeps, StepDeps } from '../deps.ts'
import { anySignal } from './any-signal.ts'
import { collectFiles } from './collect-files.ts'
import { commitResult } from './commit-result.ts'
import { openExecutionLog, type ExecutionLog } from './execution-log.ts'
import { outcomeOf, SandboxUnreachableError, type RunOutcome } from './failures.ts'
import { handOver } from './hand-over.ts'
import { EventRecorder } from './record-events.ts'
import { leaveQueue, notifyWaitingCommands } from './leave-queue.ts'
import { namespaceBudget } from './namespace-budget.ts'
import { noteAwake, NO_USAGE, restoreVariables } from './restore-variables.ts'
import { startRunGuards, type RunGuards } from './run-guards.ts'
import { startCommandPatch, startPatch } from './start-patch.ts'
import { streamExecution } from './stream-execution.ts'
import { syncFiles } from './sync-files.ts'
import { stopWork, workOf } from './work.ts'

/**
 * `fresh`: files are copied and the row becomes `running` first. `marked`: the row is `running` already. `resumed`: another worker sent the code, and
 * this one continues to read.
 */
export type RunMode = 'fresh' | 'marked' | 'resumed'

/** Sends the code to the sandbox, or attaches to it, streams its events to the end and commits the result. Throws LeaseLostError. */
export async function runInSandbox(
  deps: StepDeps,
  leased: Execution,
  container: Container,
  session: SandboxSession,
  mode: RunMode,
): Promise<RunOutcome> {
  const guards = startRunGuards(deps, leased, session)
  const run: Run = { deps, container, session, guards, mode, log: null, mayHaveRun: mode !== 'fresh' }
  try {
    await runToEnd(run, leased)
    return { kind: 'done' }
  } catch (cause) {
    if (guards.lease.signal.aborted) throw guards.lease.signal.reason
    if (guards.silence.aborted) return run.mayHaveRun ? { kind: 'lost', reason: 'sandbox_lost' } : { kind: 'unreachable' }
    const outcome = outcomeOf(cause)
    if (outcome === null) throw cause
    // Code that still runs would block the next execution.
    if (outcome.kind === 'invalid') await stopWork(deps, session, leased)
    return outcome
  } finally {
    guards.stop()
    run.log?.writer.close()
  }
}

interface Run {
  readonly deps: StepDeps
  readonly container: Container
  readonly session: SandboxSession
  readonly guards: RunGuards
  readonly mode: RunMode
  log: ExecutionLog | null
  mayHaveRun: boolean
}

async function runToEnd(run: Run, leased: Execution): Promise<void> {
  const { deps, container, session, guards, mode } = run
  const tenantLimits = await deps.limits.of(leased.tenant)
  const budget = namespaceBudget(tenantLimits, container.limits, leased.timeoutSeconds)
  const isCommand = leased.source.kind === 'command'
  const prepared = mode === 'fresh' ? await prepareSandbox(deps, leased, container, session, budget, guards.signal) : null
  const row = prepared?.row ?? leased
  const restoreUsage = prepared?.usage ?? NO_USAGE
  run.mayHaveRun = true
  if (prepared !== null) await notifyWaitingCommands(deps, container, row.id)
  // Before the code is sent: from then on the kernel may be newer than its snapshot.
  if (isHibernated(container) && !isCommand) await noteAwake(deps, container)
  if (isCommand) await leaveQueue(deps, container, row.id)
  const log = await openExecutionLog(deps, row, { isResumed: mode === 'resumed', onBroken: () => guards.lease.lose() })
  run.log = log
  const limits = executionLimitsOf(tenantLimits, container.limits)
  const work = await workOf(deps, session, row, limits, remaining(budget, restoreUsage))
  const assembler = new OutputAssembler(work.indexes)
  const recorder = new EventRecorder({ objects: deps.objects, row, assembler, log, secret: session.privateKey })
  const stop = anySignal(guards.signal, guards.budget)
  const envelope = await streamExecution(deps, { row, work, recorder, isSent: mode === 'resumed', stop })
  guards.signal.throwIfAborted()
  if (envelope === null) return handOver(deps, row, log)
  const { generation } = container
  const maxFiles = limits.filesPerExecution
  const collected = await collectFiles(deps, session, row, { generation, maxFiles }, envelope, guards.signal)
  await commitResult(deps, {
    row,
    container,
    session,
    assembler,
    log,
    envelope: withUsage(envelope, restoreUsage),
    collected,
    signal: guards.signal,
  })
}

/** Copies files and variables into a fresh sandbox and marks the row `running`. */
async function prepareSandbox(
  deps: RunDeps,
  leased: Execution,
  container: Container,
  session: SandboxSession,
  budget: NamespaceBudget,
  signal: AbortSignal,
): Promise<{ readonly row: Execution; readonly usage: NamespaceUsage }> {
  const lost: Lost[] = []
  let usage = NO_USAGE
  try {
    if (needsSync(container)) lost.push(...(await syncFiles(deps, session, container, signal)))
    // A command needs no variables, so the snapshot stays for the next execution.
    if (isHibernated(container) && leased.source.kind !== 'command') {
      const restored = await restoreVariables(deps, session, container, budget, signal)
      lost.push(...restored.lost)
      usage = restored.usage
    }
  } catch (cause) {
    if (cause instanceof LinkError || (cause instanceof SupervisorError && cause.code === 'wrong_sandbox'))
      throw new SandboxUnreachableError('The files or the variables could not be copied', { cause })
    throw cause
  }
  const patch =
    leased.source.kind === 'command' ? startCommandPatch(deps.clock, session, lost) : startPatch(deps.clock, container, session, lost)
  return { row: await commitLease(deps.table.executions, leased, patch), usage }
}

/** The use of restoring variables counts against the limits of the execution that waits for it. */
const remaining = ({ timeoutMs, cpuMs }: NamespaceBudget, used: NamespaceUsage): NamespaceBudget => ({
  timeoutMs: Math.max(1, Math.floor(timeoutMs - used.runMs)),
  ...(cpuMs !== undefined && { cpuMs: Math.max(1, Math.floor(cpuMs - used.cpuMs)) }),
})

const withUsage = (envelope: SupervisorEnvelope, { cpuMs }: NamespaceUsage): SupervisorEnvelope => ({
  ...envelope,
  cpuMs: envelope.cpuMs + cpuMs,
})
