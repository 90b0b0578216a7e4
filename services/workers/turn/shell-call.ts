import { constants } from 'node:os'
import { ServiceError } from '../../model/errors.ts'
import { topicOf } from '../../model/events.ts'
import type { ExecutionEvent } from '../../model/executions/execution-event.ts'
import { acceptExecution } from '../../operations/executions/accept-execution.ts'
import { cancelExecution } from '../../operations/executions/cancel-execution.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { loadResult } from '../../operations/executions/load-result.ts'
import { shellCommand } from '../../model/executions/shell-command.ts'
import { derivedId } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import { outputItemId } from '../../model/responses/item-ids.ts'
import type { LinkedFile } from '../../model/responses/linked-file.ts'
import { hasEventStream, type ResponseRecord } from '../../model/responses/response.ts'
import { trimText } from '../../model/trim-text.ts'
import { waitForRow } from '../../jobs/wait-for-row.ts'
import type { TurnDeps } from './deps.ts'
import { linkFiles } from './outcome/call-outcome.ts'
import { autoContainerId, createAutoContainer } from './container-context.ts'
import { readStreamedOutput, StreamedOutput } from './shell-output-log.ts'
import type { Turn } from './turn.ts'
import type { TurnChange, TurnView } from './turn-state.ts'
import { itemDone, itemStarted } from '../../model/responses/items/item-types.ts'
import { shellAction, type ShellAction, type ShellCallItem } from '../../model/responses/items/shell-call.ts'
import {
  shellDelta,
  shellResultDone,
  shellText,
  type ShellOutputItem,
  type ShellResult,
} from '../../model/responses/items/shell-call-output.ts'

/** Commands of one call. */
const MAX_COMMANDS = 32
/** Characters of stdout and of stderr per command, when the model names no length. */
const MAX_OUTPUT_CHARS = 60_000
/** Characters of all results together that the model reads. */
const MAX_MODEL_CHARS = 20_000
/** Characters that are streamed per command while it runs; the result has the rest. */
const MAX_LIVE_CHARS = 64 * 1024
/** Output of a running command is read this often, milliseconds. */
const POLL_MS = 250

interface Step {
  readonly signal: AbortSignal
  readonly emit: Turn['emit']
}

/**
 * Runs the commands of the call at `index` in their order, and records their results as a separate item. The ids of the commands follow from
 * the call, so a step that repeats the call attaches to them and runs none twice.
 */
export async function runShell(deps: TurnDeps, { row, state }: TurnView, index: number, step: Step): Promise<TurnChange> {
  const item = shellCallAt(state.items, index)
  const containerId = item.containerId ?? autoContainerId(row)
  const action = shellAction(item.arguments)
  if (state.containerId === null && containerId === autoContainerId(row)) await createAutoContainer(deps, row)
  const done: ShellCallItem = { ...item, status: 'completed' }
  const { outputIndex, output, isResumed } = startOutput(row, state.items, item, action)
  const streamed = isResumed ? await readStreamedOutput(deps, row, index, outputIndex) : new StreamedOutput()
  if (!streamed.isCallDone) step.emit(itemDone(index, done, row.request), 'soon')
  if (!isResumed) for (const event of itemStarted(outputIndex, output)) step.emit(event, 'soon')

  const runner = new CommandRunner(deps, row, { ...step, index, outputIndex, output, containerId, action, streamed })
  const problem = problemOf(action)
  const results: ShellResult[] = []
  if (problem === null) {
    for (const [at, command] of action.commands.entries()) {
      const result = await runner.run(at, command)
      if (result === null) break
      results.push(result)
      if (!streamed.hasResult(at)) step.emit(shellResultDone(outputIndex, output, at, result), 'soon')
    }
  }
  const isWhole = problem !== null || results.length === action.commands.length
  const ended: ShellOutputItem = {
    ...output,
    status: isWhole ? 'completed' : 'incomplete',
    results,
    files: await runner.linkedFiles(),
    modelText: problem ?? trimText(shellText(results), MAX_MODEL_CHARS),
  }
  const hasFailed = problem !== null || results.some((result) => result.exitCode === null)
  return {
    state: { containerId, consecutiveFailures: hasFailed ? state.consecutiveFailures + 1 : 0 },
    items: [[index, done]],
    finished: [[outputIndex, ended]],
  }
}

/** Requests the end of the commands that an interrupted call left running. */
export async function cancelShell(deps: TurnDeps, { row, state }: TurnView): Promise<void> {
  const interrupted = state.items.findLast((item) => item.type === 'shell_call_output' && item.status !== 'completed')
  if (interrupted?.type !== 'shell_call_output') return
  const index = state.items.findIndex((item) => item.type === 'shell_call' && item.callId === interrupted.callId)
  for (let at = interrupted.results.length; at < MAX_COMMANDS; at++) {
    // Commands run one after the other, so those after the first missing one were never accepted.
    if ((await cancelExecution(deps, { tenant: row.tenant, id: commandId(row, index, at) })) === null) return
  }
}

const commandId = (row: ResponseRecord, index: number, commandIndex: number): string =>
  derivedId('command', row.createdAt + index, `${row.id}:${index}:${commandIndex}`)

/** The model reads why nothing ran. */
function problemOf({ commands }: ShellAction): string | null {
  if (commands.length === 0) return 'error: There is no list "commands" with command lines in the arguments. Nothing was run.'
  if (commands.length > MAX_COMMANDS)
    return `error: ${commands.length} commands are more than ${MAX_COMMANDS}, the maximum of one call. Nothing was run. Join them in a script.`
  return null
}

/** The item for the results: a new one, or the one that an earlier step did not complete. */
function startOutput(row: ResponseRecord, items: TurnView['state']['items'], item: ShellCallItem, action: ShellAction) {
  const known = items.findIndex((one) => one.type === 'shell_call_output' && one.callId === item.callId)
  const outputIndex = known === -1 ? items.length : known
  const output: ShellOutputItem = {
    type: 'shell_call_output',
    id: outputItemId('shellOutput', row.id, outputIndex),
    callId: item.callId,
    status: 'in_progress',
    maxOutputLength: action.maxOutputLength,
    results: [],
    files: [],
    modelText: '',
  }
  return { outputIndex, output, isResumed: known !== -1 }
}

interface RunnerContext extends Step {
  readonly index: number
  readonly outputIndex: number
  readonly output: ShellOutputItem
  readonly containerId: string
  readonly action: ShellAction
  readonly streamed: StreamedOutput
}

/** Runs the commands of one call and streams what they print. */
class CommandRunner {
  readonly #deps: TurnDeps
  readonly #row: ResponseRecord
  readonly #context: RunnerContext
  readonly #files = new Map<string, { readonly execution: Execution; readonly file: Parameters<typeof linkFiles>[2][number] }>()

  constructor(deps: TurnDeps, row: ResponseRecord, context: RunnerContext) {
    this.#deps = deps
    this.#row = row
    this.#context = context
  }

  /** Null when the step has to stop before the command ends. */
  async run(commandIndex: number, command: string): Promise<ShellResult | null> {
    const { signal } = this.#context
    if (signal.aborted) return null
    const id = commandId(this.#row, this.#context.index, commandIndex)
    // Before the command is accepted, so that its end is not missed.
    const subscription = this.#deps.signals.subscribe(topicOf('execution', id))
    try {
      const refusal = await this.#accept(id, command)
      if (refusal !== null) return { stdout: '', stderr: refusal, exitCode: 1 }
      const stream = hasEventStream(this.#row) ? this.#liveStream(id, commandIndex) : null
      const read = async (): Promise<Execution | null> => {
        const present = await this.#deps.table.executions.get(this.#row.tenant, id)
        if (present !== null && !hasEnded(present.status)) await stream?.(present)
        return present
      }
      const isDone = (row: Execution | null): boolean => row === null || hasEnded(row.status)
      // The limits of the turn abort the signal.
      const limits = { now: () => this.#deps.clock.now(), deadline: Infinity, signal, pollMs: POLL_MS }
      const execution = await waitForRow<Execution, null>(subscription, read, isDone, limits, await read())
      if (execution === null) return { stdout: '', stderr: 'The container was deleted.', exitCode: 1 }
      if (!hasEnded(execution.status)) return null
      await stream?.(execution)
      return await this.#resultOf(execution)
    } finally {
      subscription.close()
    }
  }

  async linkedFiles(): Promise<readonly LinkedFile[]> {
    const linked = [...this.#files.values()].map(({ execution, file }) => linkFiles(this.#deps, execution, [file]))
    return (await Promise.all(linked)).flat()
  }

  /** Null when the command was accepted. A repetition accepts nothing twice. */
  async #accept(id: string, command: string): Promise<string | null> {
    const { containerId, action } = this.#context
    if (Buffer.byteLength(command) > LIMITS.maxCommandBytes)
      return `The command is longer than ${LIMITS.maxCommandBytes} bytes. Write its data to a file first.`
    const { tenant, subject, publicUrl } = this.#row
    const seconds = action.timeoutMs === null ? LIMITS.defaultTimeoutSeconds : Math.ceil(action.timeoutMs / 1000)
    try {
      await acceptExecution(
        this.#deps,
        {
          tenant,
          subject,
          id,
          containerId,
          responseId: null,
          source: { kind: 'command', argv: shellCommand(command), stdin: null, hasOpenInput: false, pty: null, isBackground: false },
          timeoutSeconds: Math.min(seconds, LIMITS.maxResponseSeconds),
          onError: 'stop',
          storeHistory: false,
          metadata: {},
          publicUrl,
        },
        this.#deps.clock.now(),
      )
      return null
    } catch (cause) {
      if (cause instanceof ServiceError) return cause.message
      throw cause
    }
  }

  /** Emits what the command has printed since the last call. */
  #liveStream(id: string, commandIndex: number): (execution: Execution) => Promise<void> {
    const { outputIndex, output, emit, streamed } = this.#context
    let after = -1
    let chars = 0
    // What an earlier step has streamed.
    const left = { stdout: streamed.characters(commandIndex, 'stdout'), stderr: streamed.characters(commandIndex, 'stderr') }
    const take = (events: readonly ExecutionEvent[]): void => {
      for (const event of events) {
        if (event.seq <= after) continue
        after = event.seq
        if (event.type !== 'stdout' && event.type !== 'stderr') continue
        chars += event.text.length
        if (chars > MAX_LIVE_CHARS) continue
        const text = event.text.slice(left[event.type])
        left[event.type] -= event.text.length - text.length
        if (text === '') continue
        const delta = event.type === 'stdout' ? { stdout: text } : { stderr: text }
        emit(shellDelta(outputIndex, output, commandIndex, delta), 'paced')
      }
    }
    const owner = { kind: 'execution' as const, tenant: this.#row.tenant, id }
    return async ({ tailEvents }) => {
      for (;;) {
        const page = await this.#deps.table.events.read<ExecutionEvent>(owner, after, 500)
        take(page)
        if (page.length === 0) break
      }
      take(tailEvents)
    }
  }

  async #resultOf(execution: Execution): Promise<ShellResult> {
    const result = await loadResult(this.#deps.objects, execution)
    for (const file of result?.files ?? []) this.#files.set(file.path, { execution, file })
    const max = this.#context.action.maxOutputLength ?? MAX_OUTPUT_CHARS
    const [stdout, stderr] = [result?.stdout ?? '', result?.stderr ?? ''].map((text) => trimText(text, Math.min(max, MAX_OUTPUT_CHARS)))
    if (execution.status === 'timed_out') return { stdout: stdout ?? '', stderr: stderr ?? '', exitCode: null }
    const exitCode = exitCodeOf(execution, result?.exit ?? null)
    const why =
      result?.exit === undefined && execution.status !== 'succeeded' ? `The command did not end by itself: ${execution.reason}.` : ''
    return { stdout: stdout ?? '', stderr: [stderr, why].filter((text) => text !== '').join('\n'), exitCode }
  }
}

/** As a shell reports it: 128 and the number of the signal that ended the program. */
function exitCodeOf({ status }: Execution, exit: { readonly code: number | null; readonly signal: string | null } | null): number {
  if (exit?.code !== null && exit?.code !== undefined) return exit.code
  if (exit?.signal) return 128 + ((constants.signals as Readonly<Record<string, number>>)[exit.signal] ?? 0)
  return status === 'succeeded' ? 0 : 1
}

function shellCallAt(items: TurnView['state']['items'], index: number): ShellCallItem {
  const item = items[index]
  if (item?.type !== 'shell_call') throw new Error(`The item at ${index} is no shell_call`)
  return item
}
