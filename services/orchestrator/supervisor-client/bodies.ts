import type { CommandInputEvent } from '../../core/events.ts'
import { LIMITS } from '../../core/limits.ts'
import type { CommandRequest, ExecuteRequest } from '../../core/ports/supervisor.ts'

const STREAMS = { max_output_bytes: LIMITS.maxStreamHeadBytes, tail_bytes: LIMITS.maxStreamTailBytes }

export const executeBody = (request: ExecuteRequest): Buffer =>
  Buffer.from(
    JSON.stringify({
      v: 1,
      env: request.env,
      cwd: request.cwd,
      cells: request.cells,
      on_error: request.onError,
      store_history: request.storeHistory,
      timeout_ms: request.timeoutMs,
      cpu_ms: request.cpuMs,
      max_total_bytes: request.maxTotalBytes,
      max_displays: request.maxDisplays,
      ...(request.traceId === undefined ? {} : { trace_id: request.traceId }),
      ...STREAMS,
    }),
  )

export const commandBody = (request: CommandRequest): Buffer =>
  Buffer.from(
    JSON.stringify({
      v: 1,
      argv: request.argv,
      env: request.env,
      cwd: request.cwd,
      stdin: request.stdin,
      stdin_open: request.hasOpenInput,
      pty: request.pty,
      timeout_ms: request.timeoutMs,
      cpu_ms: request.cpuMs,
      max_total_bytes: request.maxTotalBytes,
      trace_id: request.traceId,
      ...STREAMS,
    }),
  )

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
