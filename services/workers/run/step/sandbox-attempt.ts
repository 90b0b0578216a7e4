import { isHibernated, needsSync, type Container, type Snapshot } from '../../../model/containers/container.ts'
import type { Execution, Lost } from '../../../model/executions/execution.ts'
import { OutputAssembler } from '../../../model/executions/output-assembler.ts'
import { commandSourceOf, workKindOf, type WorkKind } from '../../../model/executions/work-kinds.ts'
import { isFileOperation } from '../../../model/executions/command-arguments.ts'
import { hasNetwork } from '../../../model/network/secret.ts'
import type { SandboxSession } from '../../../model/sandboxes/sandbox.ts'
import { executionLimitsOf } from '../../../model/tenants/tenant-limits.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Patch } from '../../../ports/leased-store.ts'
import { LinkError } from '../../../ports/sandbox-link.ts'
import { SupervisorError, type NamespaceBudget, type NamespaceUsage, type SupervisorEnvelope } from '../../../ports/supervisor.ts'
import { commitLease, extendLease, releaseLease } from '../../../jobs/lease.ts'
import { startLeaseHeartbeat, type LeaseHeartbeat } from '../../../jobs/lease-heartbeat.ts'
import { notifyExecution } from '../../../operations/notify/notify-execution.ts'
import type { RunDeps, StepDeps } from '../../deps.ts'
import { watchSandbox } from '../sandboxes/watch-sandbox.ts'
import { anySignal } from '../stream/any-signal.ts'
import { openExecutionLog, type ExecutionLog } from '../stream/execution-log.ts'
import { outcomeOf, SandboxUnreachableError, type RunOutcome } from '../stream/failures.ts'
import { EventRecorder } from '../stream/record-events.ts'
import { stopWork, workOf } from '../stream/sandbox-work.ts'
import { streamExecution } from '../stream/stream-execution.ts'
import { collectFiles } from '../transfer/collect-files.ts'
import { namespaceBudget } from '../transfer/namespace-budget.ts'
import { noteAwake, NO_USAGE, restoreVariables } from '../transfer/restore-variables.ts'
import { syncFiles } from '../transfer/sync-files.ts'
import { commitResult } from './commit-result.ts'
import { openNetwork } from './open-network.ts'
import { leaveQueue, notifyWaiting } from './container-queue.ts'
import { truncateLosses } from '../transfer/losses.ts'

/** Where a row runs. */
export interface Place {
  readonly container: Container
  readonly session: SandboxSession
  /**
   * `fresh`: files are copied and the row becomes `running` first. `marked`: the row is `running` already. `resumed`: another worker sent the code, and
   * this one continues to read. `continued`: the same after a suspension of the sandbox.
   */
  readonly mode: 'fresh' | 'marked' | 'resumed' | 'continued'
}

/** The sandbox has the code already. */
export const isSent = ({ mode }: Pick<Place, 'mode'>): boolean => mode === 'resumed' || mode === 'continued'

/** One attempt to run a leased row in one sandbox: sends the code, or attaches to it, streams its events to the end and commits the result. */
export class SandboxAttempt {
  readonly #deps: StepDeps
  readonly #place: Place
  readonly #guards: Guards
  #row: Execution
  #log: ExecutionLog | null = null
  #mayHaveRun: boolean
  /** The use of restoring variables counts against the limits of the execution that waits for it. */
  #restoreUsage: NamespaceUsage = NO_USAGE

  constructor(deps: StepDeps, leased: Execution, place: Place) {
    this.#deps = deps
    this.#row = leased
    this.#place = place
    this.#mayHaveRun = place.mode !== 'fresh'
    this.#guards = startGuards(deps, leased, place.session)
  }

  /** Once per attempt. Throws LeaseLostError. */
  async run(): Promise<RunOutcome> {
    const { lease, silence } = this.#guards
    const { mode } = this.#place
    try {
      await this.#runToEnd()
      return { kind: 'done' }
    } catch (cause) {
      if (lease.signal.aborted) throw lease.signal.reason
      if (silence.aborted) return this.#mayHaveRun ? { kind: 'lost', reason: 'sandbox_lost' } : { kind: 'unreachable' }
      const outcome = outcomeOf(cause)
      if (outcome === null) throw cause
      // Code that still runs would block the next execution.
      if (outcome.kind === 'invalid' || (outcome.kind === 'refused' && mode === 'continued'))
        await stopWork(this.#deps.supervisor, { session: this.#place.session, row: this.#row })
      return outcome
    } finally {
      this.#guards.stop()
      this.#log?.writer.close()
    }
  }

  async #runToEnd(): Promise<void> {
    const deps = this.#deps
    const { container, session, mode } = this.#place
    const { signal, budget: stepBudget, lease } = this.#guards
    const tenantLimits = await deps.limits.of(this.#row.tenant)
    const limits = executionLimitsOf(tenantLimits, container.limits)
    const budget = namespaceBudget(tenantLimits, container.limits, this.#row.timeoutSeconds)
    const kind = workKindOf(this.#row)
    if (mode === 'fresh') await this.#prepare(kind, budget)
    const variables = mode === 'resumed' ? {} : await openNetwork(deps, container, session)
    const row = this.#row
    this.#mayHaveRun = true
    if (mode === 'fresh') await notifyWaiting(deps, container, row.id)
    // Once the code is sent, the kernel may be newer than its snapshot. The row says so before (ADR 0016).
    if (needsSnapshot(row, container)) await noteAwake(deps, container)
    if (kind.place === 'beside') await leaveQueue(deps, container, row.id)
    const log = await openExecutionLog(deps, row, { isResumed: isSent(this.#place), onBroken: () => lease.lose() })
    this.#log = log
    const work = await workOf(deps, { session, row, limits, variables, budget: remaining(budget, this.#restoreUsage) })
    const assembler = new OutputAssembler(work.indexes)
    const recorder = new EventRecorder({ objects: deps.objects, row, assembler, log, secret: session.privateKey })
    const stop = anySignal(signal, stepBudget)
    const envelope = await streamExecution(deps, { row, work, recorder, isSent: isSent(this.#place), stop })
    signal.throwIfAborted()
    if (envelope === null) return this.#handOver(log)
    const maxFiles = limits.filesPerExecution
    const collected = await collectFiles(deps, { session, owner: container, executionId: row.id, maxFiles, envelope, signal })
    await commitResult(deps, {
      ...{ row, container, session, assembler, log, collected, signal },
      envelope: withUsage(envelope, this.#restoreUsage),
    })
  }

  /** Copies files and variables into a fresh sandbox and marks the row `running`. */
  async #prepare(kind: WorkKind, budget: NamespaceBudget): Promise<void> {
    const deps = this.#deps
    const { container, session } = this.#place
    const { signal } = this.#guards
    const lost: Lost[] = []
    try {
      if (needsSync(container)) lost.push(...(await syncFiles(deps, container, { session, signal })))
      // Otherwise the snapshot stays for the next work that needs it.
      if (needsSnapshot(this.#row, container)) {
        const restored = await restoreVariables(deps, { session, container, budget, signal })
        lost.push(...restored.lost)
        this.#restoreUsage = restored.usage
      }
    } catch (cause) {
      if (cause instanceof LinkError || (cause instanceof SupervisorError && cause.code === 'wrong_sandbox'))
        throw new SandboxUnreachableError('The files or the variables could not be copied', { cause })
      throw cause
    }
    this.#row = await commitLease(deps.table.executions, this.#row, { patch: startPatch(deps.clock, kind, { container, session, lost }) })
  }

  /** Hands running code to the next step: the supervisor keeps its events. */
  async #handOver({ writer }: ExecutionLog): Promise<void> {
    const { table, clock, queue } = this.#deps
    await writer.drain()
    await releaseLease({ rows: table.executions, clock }, this.#row, { patch: { stepsFailSince: null } })
    await notifyExecution(queue, this.#row)
  }
}

/**
 * Whether it needs what the container had when it went to sleep: code needs the variables, and a program the packages that were installed over the network. A program can also install
 * some, so the snapshot is out of date from then on.
 */
const needsSnapshot = (row: Execution, container: Container): container is Container & { readonly snapshot: Snapshot } =>
  isHibernated(container) && (workKindOf(row).usesVariables || (hasNetwork(container) && !isFileOperation(commandSourceOf(row).argv)))

/** The change that marks a row as `running` in this sandbox. Work that uses variables also names the losses of earlier sandboxes. */
export function startPatch(
  clock: Clock,
  { usesVariables }: WorkKind,
  { container, session, lost }: { readonly container: Container; readonly session: SandboxSession; readonly lost: readonly Lost[] },
): Patch<Execution> {
  const { stateLost, lostCommands = [] } = container
  const earlier = [...(stateLost === null ? [] : [{ what: 'variables', reason: stateLost }]), ...lostCommands]
  return {
    status: 'running',
    startedAt: clock.now(),
    sandboxId: session.sandboxId,
    lostBefore: [...(usesVariables ? earlier : []), ...truncateLosses(lost)],
  }
}

/** Signals that stop a run in a sandbox before the code has ended. */
interface Guards {
  readonly lease: LeaseHeartbeat
  /** Aborts when the sandbox no longer answers health checks. */
  readonly silence: AbortSignal
  /** Aborts when the step's time is used up and the next step must continue. */
  readonly budget: AbortSignal
  /** Aborts with the lease or with the sandbox. */
  readonly signal: AbortSignal
  stop(): void
}

function startGuards({ table, clock, supervisor, stepBudgetMs }: RunDeps, execution: Execution, { address }: SandboxSession): Guards {
  const lease = startLeaseHeartbeat({
    id: execution.id,
    clock,
    renew: (expiresAt) => extendLease(table.executions, execution, expiresAt),
  })
  const silence = new AbortController()
  const watch = watchSandbox(
    (signal) => supervisor.health(address, 0, signal),
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

const remaining = ({ timeoutMs, cpuMs }: NamespaceBudget, used: NamespaceUsage): NamespaceBudget => ({
  timeoutMs: Math.max(1, Math.floor(timeoutMs - used.runMs)),
  ...(cpuMs !== undefined && { cpuMs: Math.max(1, Math.floor(cpuMs - used.cpuMs)) }),
})

const withUsage = (envelope: SupervisorEnvelope, { cpuMs }: NamespaceUsage): SupervisorEnvelope => ({
  ...envelope,
  cpuMs: envelope.cpuMs + cpuMs,
})
