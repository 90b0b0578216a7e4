import type { CommandInputEvent, EventOwner } from '../../model/events.ts'
import { topicOf } from '../../model/events.ts'
import type { CommandSource, Execution } from '../../model/executions/execution.ts'
import type { CommandRequest, ExecuteRequest, NamespaceBudget, SupervisorEvent } from '../../ports/supervisor.ts'
import type { SandboxSession } from '../../model/sandboxes/sandbox.ts'
import { DEFAULT_LIMITS, type ExecutionLimits } from '../../model/tenants/tenant-limits.ts'
import { currentTrace } from '../../model/trace.ts'
import { watchRow } from '../../jobs/watch-row.ts'
import type { RunDeps } from '../deps.ts'
import { cellsOf, type SourceCells } from './cells-of.ts'

const MAX_ENTRIES_AT_ONCE = 100

/** What runs in the sandbox, for a run step: code in the kernel, or a command beside it. */
export interface Work {
  /** The notebook position of each cell, `[0]` for plain code and commands. */
  readonly indexes: readonly number[]
  /** Starts it or attaches to it; yields the events after number `after`. */
  open(after: number, signal: AbortSignal): Promise<AsyncIterable<SupervisorEvent>>
  /** Interrupts it, and kills it after this time. */
  stop(killAfterMs: number): Promise<void>
  /** Passes on the input that clients send while it runs. */
  followInput(): { close(): void }
}

export async function workOf(
  deps: RunDeps,
  session: SandboxSession,
  row: Execution,
  limits: ExecutionLimits,
  budget: NamespaceBudget,
): Promise<Work> {
  const { supervisor } = deps
  const stop = (killAfterMs: number): Promise<void> => endWork(deps, session, row, killAfterMs)
  if (row.source.kind === 'command') {
    const request = commandRequest(row, row.source, limits, budget)
    return {
      indexes: [0],
      open: (after, signal) => supervisor.runCommand(session, row.id, request, after, signal),
      stop,
      followInput: () => followInput(deps, session, row),
    }
  }
  const source = await cellsOf(deps.objects, row.source)
  const request = executeRequest(row, source, limits, budget)
  return {
    indexes: source.indexes,
    open: (after, signal) => supervisor.execute(session, row.id, request, after, signal),
    stop,
    followInput: () => ({ close: () => undefined }),
  }
}

/** Never rejects. */
export const stopWork = (deps: Pick<RunDeps, 'supervisor'>, session: SandboxSession, row: Execution): Promise<void> =>
  endWork(deps, session, row, 0).catch(() => undefined)

const endWork = (
  { supervisor }: Pick<RunDeps, 'supervisor'>,
  session: SandboxSession,
  row: Execution,
  killAfterMs: number,
): Promise<void> =>
  row.source.kind === 'command' ? supervisor.stopCommand(session, row.id, killAfterMs) : supervisor.interrupt(session, row.id, killAfterMs)

/** Sends the command's input log to the sandbox as it grows. The sandbox applies each number once, so that a successor may send it again. */
function followInput({ table, signals, supervisor }: RunDeps, session: SandboxSession, { tenant, id }: Execution): { close(): void } {
  const owner: EventOwner = { kind: 'input', tenant, id }
  let through = -1
  const watch = watchRow<readonly CommandInputEvent[]>({
    subscription: signals.subscribe(topicOf('input', id)),
    read: () => table.events.read<CommandInputEvent>(owner, through, MAX_ENTRIES_AT_ONCE),
    onRow: async (entries) => {
      if (entries !== null && entries.length > 0) ({ through } = await supervisor.sendInput(session, id, entries))
      return false
    },
  })
  // The watch repeats a failed check.
  void watch.check().catch(() => undefined)
  return watch
}

function commandRequest(row: Execution, source: CommandSource, limits: ExecutionLimits, budget: NamespaceBudget): CommandRequest {
  return {
    argv: source.argv,
    env: row.scope?.env ?? {},
    cwd: row.scope?.cwd ?? null,
    stdin: source.stdin,
    hasOpenInput: source.hasOpenInput,
    pty: source.pty,
    ...bounds(limits, budget),
  }
}

function executeRequest(row: Execution, source: SourceCells, limits: ExecutionLimits, budget: NamespaceBudget): ExecuteRequest {
  const { displays } = limits
  return {
    ...row.scope,
    ...(row.language !== undefined && { language: row.language }),
    cells: source.cells,
    onError: row.onError,
    storeHistory: row.storeHistory,
    ...bounds(limits, budget),
    ...(displays < DEFAULT_LIMITS.displays && { maxDisplays: displays }),
  }
}

function bounds({ outputBytes }: ExecutionLimits, budget: NamespaceBudget) {
  const traceId = currentTrace()?.traceId
  return {
    timeoutMs: budget.timeoutMs,
    // Limits at the default are omitted, so the supervisor need not monitor them.
    ...(budget.cpuMs !== undefined && { cpuMs: budget.cpuMs }),
    ...(outputBytes < DEFAULT_LIMITS.outputBytes && { maxTotalBytes: outputBytes }),
    ...(traceId !== undefined && { traceId }),
  }
}
