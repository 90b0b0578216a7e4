import { constants } from 'node:os'
import type { CommandInputEvent, EventOwner } from '../../../model/events.ts'
import { topicOf } from '../../../model/events.ts'
import { sandboxArguments, unixLines } from '../../../model/executions/command-arguments.ts'
import type { CommandExit, Execution, ExecutionResult } from '../../../model/executions/execution.ts'
import type { OutputAssembler } from '../../../model/executions/output-assembler.ts'
import { commandSourceOf, workKindOf, type WorkKindName } from '../../../model/executions/work-kinds.ts'
import { LIMITS } from '../../../model/limits.ts'
import { readBytes } from '../../../model/read-bytes.ts'
import type { SandboxSession } from '../../../model/sandboxes/sandbox.ts'
import { DEFAULT_LIMITS, type ExecutionLimits } from '../../../model/tenants/tenant-limits.ts'
import { currentTrace } from '../../../model/trace.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import type {
  CommandRequest,
  ExecuteRequest,
  NamespaceBudget,
  Supervisor,
  SupervisorEnvelope,
  SupervisorEvent,
} from '../../../ports/supervisor.ts'
import { argumentsOf } from '../../../operations/executions/store-source.ts'
import { watchRow } from '../../../jobs/watch-row.ts'
import type { RunDeps } from '../../deps.ts'

const MAX_ENTRIES_AT_ONCE = 100
const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]))

/** Starts the work or attaches to it; yields the events after number `after`. */
type Open = (after: number, signal: AbortSignal) => Promise<AsyncIterable<SupervisorEvent>>

interface RunningRow {
  readonly session: SandboxSession
  readonly row: Execution
}
interface NewWork extends RunningRow {
  readonly limits: ExecutionLimits
  /** Environment variables below those of the caller. */
  readonly variables: Readonly<Record<string, string>>
  readonly budget: NamespaceBudget
}

/** The calls of a supervisor for one kind of work, and its part of the result. */
interface SandboxWork {
  opener(deps: RunDeps, work: NewWork): Promise<Open>
  /** Interrupts it, and kills it after this time. */
  stop(supervisor: Supervisor, running: RunningRow, killAfterMs: number): Promise<void>
  /** Passes on the input that clients send while it runs. */
  followInput(deps: RunDeps, running: RunningRow): { close(): void }
  outputsOf(assembler: OutputAssembler, envelope: SupervisorEnvelope): Pick<ExecutionResult, 'cells' | 'exit'>
}

const SANDBOX_WORK: Readonly<Record<WorkKindName, SandboxWork>> = {
  execution: {
    async opener({ supervisor, objects }, work) {
      const request = executeRequest(work, await cellsOf(objects, work.row))
      return (after, signal) => supervisor.execute(work.session, { executionId: work.row.id, request, after }, signal)
    },
    stop: (supervisor, { session, row }, killAfterMs) => supervisor.interrupt(session, row.id, killAfterMs),
    followInput: () => ({ close: () => undefined }),
    outputsOf: (assembler) => ({ cells: assembler.cells() }),
  },
  command: {
    async opener({ supervisor, objects }, work) {
      const request = await commandRequest(objects, work)
      return (after, signal) => supervisor.runCommand(work.session, { commandId: work.row.id, request, after }, signal)
    },
    stop: (supervisor, { session, row }, killAfterMs) => supervisor.stopCommand(session, row.id, killAfterMs),
    followInput,
    // The result of a command is the text of its streams.
    outputsOf: (_, envelope) => ({ cells: [], exit: exitOf(envelope) }),
  },
}
const workFor = (row: Execution): SandboxWork => SANDBOX_WORK[workKindOf(row).name]

/** What runs in the sandbox, for a run step. */
export interface Work {
  /** The notebook position of each cell, `[0]` for plain code, none for commands. */
  readonly indexes: readonly number[]
  readonly open: Open
  stop(killAfterMs: number): Promise<void>
  followInput(): { close(): void }
}

export async function workOf(deps: RunDeps, work: NewWork): Promise<Work> {
  const { source } = work.row
  const calls = workFor(work.row)
  return {
    indexes: source.kind === 'notebook' ? source.cells.map(({ index }) => index) : source.kind === 'command' ? [] : [0],
    open: await calls.opener(deps, work),
    stop: (killAfterMs) => calls.stop(deps.supervisor, work, killAfterMs),
    followInput: () => calls.followInput(deps, work),
  }
}

/** Never rejects. */
export const stopWork = (supervisor: Supervisor, running: RunningRow): Promise<void> =>
  workFor(running.row)
    .stop(supervisor, running, 0)
    .catch(() => undefined)

export const outputsOf = (
  row: Execution,
  assembler: OutputAssembler,
  envelope: SupervisorEnvelope,
): Pick<ExecutionResult, 'cells' | 'exit'> => workFor(row).outputsOf(assembler, envelope)

const exitOf = ({ exit }: SupervisorEnvelope): CommandExit => ({
  code: exit?.code ?? null,
  signal: exit?.signal === undefined || exit.signal === null ? null : (SIGNAL_NAMES.get(exit.signal) ?? `signal ${exit.signal}`),
})

/** Input that the sandbox has accepted is removed from the log when it is this long, characters. Each removal is a query and a write. */
const REMOVE_SENT_INPUT = 256 * 1024

/** Sends the command's input log to the sandbox as it grows. The sandbox applies each number once, so that a successor may send it again. */
function followInput({ table, signals, supervisor }: RunDeps, { session, row: { tenant, id } }: RunningRow): { close(): void } {
  const owner: EventOwner = { kind: 'input', tenant, id }
  let through = -1
  let sent = 0
  const watch = watchRow<readonly CommandInputEvent[]>({
    subscription: signals.subscribe(topicOf('input', id)),
    read: () => table.events.read<CommandInputEvent>(owner, through, MAX_ENTRIES_AT_ONCE),
    onRow: async (entries) => {
      if (entries === null || entries.length === 0) return false
      ;({ through } = await supervisor.sendInput(session, id, entries))
      sent += entries.reduce((sum, entry) => sum + (entry.type === 'stdin' ? entry.data.length : 0), 0)
      if (sent < REMOVE_SENT_INPUT) return false
      sent = 0
      await table.events.removeBefore(owner, through)
      return false
    },
  })
  // The watch repeats a failed check.
  void watch.check().catch(() => undefined)
  return watch
}

async function commandRequest(objects: ObjectStore, { row, limits, variables, budget }: NewWork): Promise<CommandRequest> {
  const source = commandSourceOf(row)
  const { stdin, hasOpenInput, pty, isFollowed = false } = source
  return {
    argv: sandboxArguments(await argumentsOf(objects, source)),
    stdin,
    hasOpenInput,
    pty,
    ...(isFollowed && { maxOutputBytes: LIMITS.maxFollowedHeadBytes }),
    env: { ...variables, ...row.scope?.env },
    cwd: row.scope?.cwd ?? null,
    ...bounds(limits, budget),
  }
}

function executeRequest({ row, limits, variables, budget }: NewWork, cells: ExecuteRequest['cells']): ExecuteRequest {
  const { displays } = limits
  return {
    ...row.scope,
    ...(Object.keys(variables).length > 0 && { env: { ...variables, ...row.scope?.env } }),
    ...(row.language !== undefined && { language: row.language }),
    cells,
    onError: row.onError,
    storeHistory: row.storeHistory,
    ...bounds(limits, budget),
    ...(displays < DEFAULT_LIMITS.displays && { maxDisplays: displays }),
  }
}

/** The cells that the supervisor runs, in order. */
async function cellsOf(objects: ObjectStore, { id, source }: Execution): Promise<ExecuteRequest['cells']> {
  switch (source.kind) {
    case 'code':
      return [{ code: unixLines(source.code) }]
    case 'notebook':
      return source.cells.map(({ code }) => ({ code: unixLines(code) }))
    case 'blob': {
      const object = await objects.get(source.code.objectKey)
      if (object === null) throw new Error(`The source object ${source.code.objectKey} is gone`)
      return [{ code: unixLines((await readBytes(object.body)).toString('utf8')) }]
    }
    case 'command':
      throw new Error(`${id} has no cells`)
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
