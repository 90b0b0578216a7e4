import { codeOfSignal } from '../../operations/executions/exit-code.ts'
import { executionEvents, pagesSoFar } from '../../operations/executions/execution-events.ts'
import { loadResult } from '../../operations/executions/load-result.ts'
import { storedBytes } from '../../operations/executions/stored-bytes.ts'
import type { ExecutionEvent } from '../../model/executions/execution-event.ts'
import { hasEnded, type Execution, type ExecutionResult } from '../../model/executions/execution.ts'
import { LIMITS } from '../../model/limits.ts'
import type { Call } from '../../http/route.ts'

interface Window {
  /** The number of the last entry that the reader has; 0 for none. */
  readonly offset: number
  /** Only so many of the last entries; all without it. */
  readonly tail?: number | undefined
}

interface Entry {
  readonly type: 'output'
  readonly data: string
}

/** More than the log of a command has. */
const MAX_TEXT_BYTES = 2 * LIMITS.maxStreamHeadBytes

/** A process as the protocol has it, with the output after `offset` that there is now. Nothing is consumed by reading it. */
export async function describeProcess(
  { deps, request }: Pick<Call, 'deps' | 'request'>,
  row: Execution,
  { offset, tail }: Window,
): Promise<Readonly<Record<string, unknown>>> {
  return deps.results.hold(MAX_TEXT_BYTES + storedBytes(row), async () => {
    const result = hasEnded(row.status) ? await loadResult(deps.objects, row) : null
    const { entries, last } = await outputAfter({ deps, request }, row, { offset, result })
    const shown = tail === undefined ? entries : entries.slice(-tail)
    return { ...stateOf(row, result), output: shown, truncated: shown.length < entries.length, next_offset: last }
  })
}

/** A process without its output. */
export function stateOf(row: Execution, result: ExecutionResult | null): Readonly<Record<string, unknown>> {
  const { id, source, scope, status, cancelRequestedAt } = row
  const { code = null, signal = null } = result?.exit ?? {}
  return {
    id,
    command: source.kind === 'command' ? (source.argv.at(-1) ?? '') : '',
    cwd: scope?.cwd,
    status: hasEnded(status) ? (cancelRequestedAt === null ? 'done' : 'killed') : 'running',
    // As a shell has it.
    exit_code: code ?? (signal === null ? null : codeOfSignal(signal)),
    log_path: null,
  }
}

async function outputAfter(
  { deps, request }: Pick<Call, 'deps' | 'request'>,
  row: Execution,
  { offset, result }: { readonly offset: number; readonly result: ExecutionResult | null },
): Promise<{ readonly entries: readonly Entry[]; readonly last: number }> {
  const entries: Entry[] = []
  let last = offset
  let isCut = false
  for await (const events of pagesOf({ deps, request }, row, offset))
    for (const event of events) {
      if (event.type === 'stdout' || event.type === 'stderr') entries.push({ type: 'output', data: event.text })
      // The protocol has no other place for it.
      else if (event.type === 'lost') {
        isCut ||= event.what.startsWith('stdout')
        entries.push({ type: 'output', data: `[Not available: ${event.what}. ${event.reason}]\n` })
      } else continue
      last = event.seq
    }
  // The log has the head of a long output, and the result also its end.
  if (isCut && result !== null) entries.push({ type: 'output', data: result.stdout.slice(-LIMITS.maxStreamTailBytes) })
  const { code = null, signal = null } = result?.exit ?? {}
  if (hasEnded(row.status) && code === null && signal === null)
    entries.push({
      type: 'output',
      data: `[The process ended without an exit code (${row.status}, ${row.reason ?? 'unknown'}). Run it again.]\n`,
    })
  return { entries, last }
}

async function* pagesOf(
  { deps, request }: Pick<Call, 'deps' | 'request'>,
  row: Execution,
  after: number,
): AsyncGenerator<readonly ExecutionEvent[], void, undefined> {
  if (!hasEnded(row.status)) yield* pagesSoFar(deps.table.events, row, after)
  // The last events of an ended command are in its row.
  else for await (const event of executionEvents(deps, row, { after, signal: request.signal })) if (event !== null) yield [event]
}
