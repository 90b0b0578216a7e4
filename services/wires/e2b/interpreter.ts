import * as z from 'zod'
import { openObject } from '../../model/bounded-schemas.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { loadResult } from '../../operations/executions/load-result.ts'
import { LIMITS } from '../../model/limits.ts'
import type { ApiDeps } from '../../http/deps.ts'
import { cancelExecution } from '../../operations/executions/cancel-execution.ts'
import { executionEvents } from '../../operations/executions/execution-events.ts'
import { RUN_ANSWER_BYTES } from '../../operations/executions/result-budget.ts'
import { runCode } from '../../operations/executions/run-code.ts'
import { environment } from '../../http/execution-scope.ts'
import { checkSource } from '../../operations/executions/source.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { streamCall } from '../../http/stream-call.ts'
import { contextOf, contextRoutes, defaultContext, kernelScope, languageOf } from './contexts.ts'
import { lossText } from './losses.ts'
import { resultLine } from './results.ts'
import { bodyOf, e2bRoute } from './routing.ts'
import { breakIfDeleted, useSandbox } from './open-sandbox.ts'

const Execute = lazySchema(() =>
  openObject({
    code: z.string(),
    context_id: z.string().nullish(),
    language: z.string().nullish(),
    env_vars: environment().nullish(),
  }),
)

const NDJSON = { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store', 'x-accel-buffering': 'no' } as const

/** Runs code and streams what it prints and shows, one JSON document per line. */
async function execute(call: Call): Promise<Response> {
  const { container, session, context } = await useSandbox(call)
  const body = await bodyOf(call, Execute())
  const chosen =
    typeof body.context_id === 'string' ? contextOf(session, body.context_id) : defaultContext(languageOf(body.language ?? 'python'))
  const scope = kernelScope(session, chosen, body.env_vars)
  call.deps.results.reserve(RUN_ANSWER_BYTES)
  const { timeoutSeconds } = await call.deps.limits.of(container.tenant)
  return streamCall(
    call,
    async () => {
      const { execution } = await runCode(context, {
        containerId: container.id,
        source: checkSource({ code: body.code }),
        ...(chosen.language !== 'python' && { language: chosen.language }),
        scope,
        // The client ends the call by its own time limit, which ends the code.
        timeoutSeconds: Math.min(timeoutSeconds, LIMITS.maxTimeoutSeconds),
        waitMs: 0,
      })
      return (signal) => lines(call.deps, execution, signal)
    },
    NDJSON,
  )
}

const line = (value: Readonly<Record<string, unknown>>): string => `${JSON.stringify(value)}\n`

/** The lines of an execution. When the client disconnects before its end, the code ends too. */
async function* lines(deps: ApiDeps, started: Execution, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
  let isComplete = false
  let hasError = false
  try {
    for await (const event of executionEvents(deps, started, { after: 0, signal })) {
      if (event === null) yield line({ type: 'keepalive' })
      else if (event.type === 'stdout' || event.type === 'stderr')
        yield line({ type: event.type, text: event.text, timestamp: new Date(event.at).toISOString() })
      else if (event.type === 'output' && event.replaces !== true) {
        const result = await resultLine(deps, event.output)
        hasError ||= result?.['type'] === 'error'
        if (result !== null) yield line(result)
      } else if (event.type === 'done') isComplete = true
    }
    const row = (await deps.table.executions.get(started.tenant, started.id)) ?? started
    if (row.status !== 'succeeded') await breakIfDeleted(deps, row)
    const result = await loadResult(deps.objects, row)
    const lost = lossText(result)
    if (lost !== '') yield line({ type: 'stderr', text: lost, timestamp: new Date(deps.clock.now()).toISOString() })
    const count = result?.cells[0]?.executionCount ?? null
    if (count !== null) yield line({ type: 'number_of_executions', execution_count: count })
    if (!hasError && hasEnded(row.status) && row.status !== 'succeeded') yield line(endError(row))
    yield line({ type: isComplete ? 'end_of_execution' : 'unexpected_end_of_execution' })
  } finally {
    if (!isComplete) await cancelExecution(deps, started)
  }
}

const WHY: Readonly<Record<string, readonly [string, string]>> = {
  oom: ['MemoryError', 'The code used all memory of the sandbox. Its variables are lost.'],
  kernel_died: ['KernelDied', 'The kernel ended. Its variables are lost.'],
  output_limit: ['OutputLimit', 'The code printed more than the sandbox accepts.'],
  disk_full: ['DiskFull', 'The disk of the sandbox is full.'],
  sandbox_lost: ['SandboxLost', 'The sandbox was lost while the code ran. It may have run in part.'],
  deadline: ['TimeoutError', 'The code reached its time limit.'],
  cpu_limit: ['TimeoutError', 'The code reached its limit of processor time.'],
  caller: ['Cancelled', 'The execution was cancelled.'],
}

/** An end without an exception of the code. */
function endError(row: Execution): Readonly<Record<string, unknown>> {
  const [name, value] = WHY[row.reason ?? ''] ?? ['ExecutionError', `The execution ended as ${row.status}.`]
  return { type: 'error', name, value, traceback: `${name}: ${value}` }
}

export const interpreterRoutes: readonly AnyRoute[] = [
  e2bRoute({ plane: 'data', scope: 'run', method: 'post', path: '/execute', body: Execute, handle: execute }),
  ...contextRoutes,
]
