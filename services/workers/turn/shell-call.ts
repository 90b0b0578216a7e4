import { codeOfSignal } from '../../operations/executions/exit-code.ts'
import type { Execution } from '../../model/executions/execution.ts'
import { loadResult } from '../../operations/executions/load-result.ts'
import { argumentsOf } from '../../model/responses/items/item-type.ts'
import { itemDone, itemStarted } from '../../model/responses/items/item-types.ts'
import { shellAction, type ShellCallItem } from '../../model/responses/items/shell-call.ts'
import { shellResultDone, shellText, type ShellOutputItem, type ShellResult } from '../../model/responses/items/shell-call-output.ts'
import { outputItemId } from '../../model/responses/item-ids.ts'
import type { LinkedFile } from '../../model/responses/linked-file.ts'
import { trimText } from '../../model/trim-text.ts'
import { itemOfType, type ContainerCall, type JobEnd } from './container-call.ts'
import type { TurnDeps } from './deps.ts'
import { linkFiles } from './outcome/call-outcome.ts'
import { shellTool } from './tools/shell.ts'
import type { TurnEvent, TurnView } from './turn-state.ts'

/** Characters of stdout and of stderr per command, when the model names no length. */
const MAX_OUTPUT_CHARS = 60_000
/** Characters of all results together that the model reads. */
const MAX_MODEL_CHARS = 20_000

/** A call of the shell: each command is one job, and their results are a separate item. */
export const shellCommands: ContainerCall<ShellCallItem> = {
  type: 'shell_call',
  toolOf: shellTool,
  argumentsOf: (item) => argumentsOf(item.arguments),
  begin(view, { index, item }) {
    const done: ShellCallItem = { ...item, status: 'completed' }
    const { outputIndex, output, isNew } = outputOf(view, index, item)
    const payloads = [itemDone(index, done, view.row.request), ...(isNew ? itemStarted(outputIndex, output) : [])]
    const events = payloads.map((payload): TurnEvent => ({ payload, priority: 'soon' }))
    return {
      outputIndex,
      change: {
        items: [
          [index, done],
          [outputIndex, output],
        ],
        events,
      },
    }
  },
  reject(view, { index, item }, { message }) {
    const { outputIndex, output } = outputOf(view, index, item)
    return {
      ...shellCommands.begin(view, { index, item }).change,
      state: { consecutiveFailures: view.state.consecutiveFailures + 1 },
      finished: [[outputIndex, { ...output, status: 'completed', modelText: `error: ${message}` }]],
    }
  },
  async record(deps, view, end) {
    const { outputIndex, jobIndex } = end.pending
    const output = itemOfType(view, outputIndex, 'shell_call_output')
    const { result, files } = await resultOf(deps, end, output.maxOutputLength)
    const results = [...output.results, result]
    const recorded: ShellOutputItem = {
      ...output,
      status: end.isLast ? 'completed' : 'in_progress',
      results,
      files: [...output.files.filter(({ path }) => !files.some((file) => file.path === path)), ...files],
      modelText: trimText(shellText(results), MAX_MODEL_CHARS),
    }
    const events: TurnEvent[] = [
      { payload: shellResultDone({ index: outputIndex, item: output, commandIndex: jobIndex, result }), priority: 'soon' },
    ]
    if (!end.isLast) return { events, items: [[outputIndex, recorded]] }
    const hasFailed = results.some(({ exitCode }) => exitCode === null)
    return {
      state: { consecutiveFailures: hasFailed ? view.state.consecutiveFailures + 1 : 0 },
      events,
      finished: [[outputIndex, recorded]],
    }
  },
}

/** The item for the results: a new one, or the one that a predecessor had begun when it crashed. */
function outputOf({ row, state: { items } }: TurnView, index: number, { callId, arguments: args }: ShellCallItem) {
  const known = items.findIndex((one, at) => at > index && one.type === 'shell_call_output' && one.callId === callId)
  const outputIndex = known === -1 ? items.length : known
  const output: ShellOutputItem = {
    type: 'shell_call_output',
    id: outputItemId('shellOutput', row.id, outputIndex),
    callId,
    status: 'in_progress',
    maxOutputLength: shellAction(argumentsOf(args)).maxOutputLength,
    results: [],
    files: [],
    modelText: '',
  }
  return { outputIndex, output, isNew: known === -1 }
}

/** Files that a job made are linked. */
async function resultOf(
  deps: TurnDeps,
  end: JobEnd,
  maxOutputLength: number | null,
): Promise<{ readonly result: ShellResult; readonly files: readonly LinkedFile[] }> {
  if ('rejection' in end) return { result: { stdout: '', stderr: end.rejection.message, exitCode: 1 }, files: [] }
  const { execution } = end
  const result = await loadResult(deps.objects, execution)
  const files = await linkFiles(deps, execution, result?.files ?? [])
  const max = Math.min(maxOutputLength ?? MAX_OUTPUT_CHARS, MAX_OUTPUT_CHARS)
  const stdout = trimText(result?.stdout ?? '', max)
  const stderr = trimText(result?.stderr ?? '', max)
  if (execution.status === 'timed_out') return { result: { stdout, stderr, exitCode: null }, files }
  const hasExit = result?.exit !== undefined
  const why = hasExit || execution.status === 'succeeded' ? '' : `The command did not end by itself: ${execution.reason}.`
  const text = [stderr, why].filter((part) => part !== '').join('\n')
  return { result: { stdout, stderr: text, exitCode: exitCodeOf(execution, result?.exit ?? null) }, files }
}

/** As a shell reports it. */
function exitCodeOf({ status }: Execution, exit: { readonly code: number | null; readonly signal: string | null } | null): number {
  if (exit?.code !== null && exit?.code !== undefined) return exit.code
  if (exit?.signal) return codeOfSignal(exit.signal)
  return status === 'succeeded' ? 0 : 1
}
