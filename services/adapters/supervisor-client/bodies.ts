import type { CommandInputEvent } from '../../model/events.ts'
import { LIMITS } from '../../model/limits.ts'
import type { CommandRequest, ExecuteRequest, NamespaceBudget } from '../../ports/supervisor.ts'
import { snakeCase } from '../../model/snake-case.ts'

const STREAMS = { max_output_bytes: LIMITS.maxStreamHeadBytes, tail_bytes: LIMITS.maxStreamTailBytes }

export const executeBody = (request: ExecuteRequest): Buffer => bodyOf(request)

export const commandBody = ({ hasOpenInput, ...request }: CommandRequest): Buffer => bodyOf({ ...request, stdinOpen: hasOpenInput })

/** Converts the port's field names to snake case, so a new limit of the port reaches the sandbox without a change here. */
function bodyOf(request: object): Buffer {
  const fields = Object.entries(request).map(([name, value]) => [snakeCase(name), value] as const)
  return Buffer.from(JSON.stringify({ v: 1, ...STREAMS, ...Object.fromEntries(fields) }))
}

export const inputBody = (entries: readonly CommandInputEvent[]): Buffer => Buffer.from(JSON.stringify({ entries: entries.map(toEntry) }))

function toEntry(event: CommandInputEvent): Readonly<Record<string, unknown>> {
  const { seq } = event
  switch (event.type) {
    case 'stdin':
      return { seq, data: event.data }
    case 'close':
      return { seq }
    case 'signal':
      return { seq, signal: event.signal }
    case 'resize':
      return { seq, size: { cols: event.cols, rows: event.rows } }
  }
}

/** The maximum of the protocol for both values. */
const MAX_BUDGET_MS = 300_000

/** The query of a request that saves or restores variables. */
export const budgetQuery = ({ timeoutMs, cpuMs }: NamespaceBudget): string =>
  [`timeout_ms=${withinBudget(timeoutMs)}`, ...(cpuMs === undefined ? [] : [`cpu_ms=${withinBudget(cpuMs)}`])].join('&')
const withinBudget = (milliseconds: number): number => Math.max(1, Math.min(Math.floor(milliseconds), MAX_BUDGET_MS))
