import { codeOfSignal } from '../../operations/executions/exit-code.ts'
import * as z from 'zod'
import { boundedList, openObject } from '../../model/bounded-schemas.ts'
import { lazySchema, type Described } from '../../model/lazy-schema.ts'
import { ServiceError } from '../../model/errors.ts'
import type { CommandInputPayload } from '../../model/events.ts'
import type { ExecutionEvent } from '../../model/executions/execution-event.ts'
import { hasEnded, type Execution, type ExecutionResult } from '../../model/executions/execution.ts'
import { loadResult } from '../../operations/executions/load-result.ts'
import { LIMITS } from '../../model/limits.ts'
import { runCommand } from '../../operations/commands/run-command.ts'
import { sendCommandInput } from '../../operations/commands/send-input.ts'
import type { ApiDeps } from '../../http/deps.ts'
import { executionEvents } from '../../operations/executions/execution-events.ts'
import { commandArgument, environment, osText } from '../../http/execution-scope.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { argumentsAs, pidOf, runningCommands, selectCommand, TAG_METADATA } from './commands.ts'
import { serverStream, unary } from './connect.ts'
import { lossText } from './losses.ts'
import { scopeOf } from './scope.ts'
import { RpcError } from './errors.ts'
import { breakIfDeleted, useSandbox } from './open-sandbox.ts'

const MAX_ARGUMENTS = 1_000
const Size = lazySchema(() => openObject({ cols: z.int().min(1).max(1_000), rows: z.int().min(1).max(1_000) }))
const Pty = lazySchema(() => openObject({ size: Size().optional() }))
const Start = lazySchema(() =>
  openObject({
    process: openObject({
      cmd: commandArgument().min(1),
      args: boundedList(commandArgument(), { max: MAX_ARGUMENTS }).default([]),
      envs: environment().default({}),
      cwd: osText(LIMITS.maxPathBytes).optional(),
    }),
    pty: Pty().optional(),
    tag: z.string().max(200).optional(),
    stdin: z.boolean().optional(),
  }),
)
const Selector = lazySchema(() => openObject({ pid: z.int().optional(), tag: z.string().optional() }))
const ofProcess = lazySchema(() => openObject({ process: Selector() }))
const DEFAULT_SIZE = { cols: 80, rows: 24 } as const
const SIGNALS: Readonly<Record<string, number>> = { SIGNAL_SIGTERM: 15, SIGNAL_SIGKILL: 9 }
const at = (procedure: string): string => `/process.Process/${procedure}`

/** The client's own limit, as the protocol sends it; none is the longest that the account has. Seconds. */
async function timeoutOf({ deps, caller, request }: Call): Promise<number> {
  const longest = Math.min((await deps.limits.of(caller.tenant)).timeoutSeconds, LIMITS.maxTimeoutSeconds)
  const asked = Number(request.headers.get('connect-timeout-ms') ?? 0)
  return asked > 0 ? Math.min(longest, Math.ceil(asked / 1000)) : longest
}

const start = serverStream({ path: at('Start'), scope: 'run', body: Start }, async (call, { process, pty, tag, stdin }) => {
  const { container, session, context } = await useSandbox(call)
  const { execution } = await runCommand(context, {
    containerId: container.id,
    argv: argumentsAs(call.request, [process.cmd, ...process.args]),
    ...scopeOf(session, { env: process.envs, cwd: process.cwd }),
    ...(pty !== undefined ? { pty: pty.size ?? DEFAULT_SIZE } : stdin !== false && { stdin: 'open' }),
    timeoutSeconds: await timeoutOf(call),
    metadata: tag === undefined ? {} : { [TAG_METADATA]: tag },
    isFollowed: pty === undefined,
    waitMs: 0,
  })
  return (signal) => messages(call.deps, execution, { after: 0, signal })
})

const connect = serverStream({ path: at('Connect'), scope: 'read', body: ofProcess }, async (call, { process }) => {
  const { container } = await useSandbox(call)
  const { row } = await selectCommand(call, container, process)
  const owner = { kind: 'execution', tenant: row.tenant, id: row.id } as const
  // What the process has printed before belongs to the streams that were open then.
  const seen = (await call.deps.table.events.last(owner))?.events.at(-1)?.seq ?? 0
  return (signal) => messages(call.deps, row, { after: seen, signal })
})

/** Start, output and end of a command. A client that disconnects leaves it running. */
async function* messages(
  deps: ApiDeps,
  started: Execution,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<Readonly<Record<string, unknown>>, void, undefined> {
  const hasTerminal = started.source.kind === 'command' && started.source.pty !== null
  const start = { event: { start: { pid: pidOf(started.id) } } }
  // A process that another call started runs already. Clients take any other first message than `start` as a failure.
  let isRunning = after > 0
  if (isRunning) yield start
  for await (const event of executionEvents(deps, started, { after, signal, isExact: true })) {
    if (!isRunning && event !== null && !(event.type === 'status' && event.status !== 'running')) {
      isRunning = true
      yield start
    }
    const message = event === null ? { keepalive: {} } : outputOf(event, hasTerminal)
    if (isRunning && message !== null) yield { event: message }
  }
  const row = (await deps.table.executions.get(started.tenant, started.id)) ?? started
  await breakIfDeleted(deps, row)
  if (!hasEnded(row.status)) throw new RpcError('aborted', 'The stream has ended before the process. Connect to the process again.')
  const result = await loadResult(deps.objects, row)
  const lost = lossText(result)
  if (lost !== '') yield { event: data(hasTerminal ? 'pty' : 'stderr', lost) }
  yield { event: { end: endOf(row, result) } }
}

const data = (stream: 'pty' | 'stdout' | 'stderr', text: string) => ({ data: { [stream]: Buffer.from(text).toString('base64') } })

function outputOf(event: ExecutionEvent, hasTerminal: boolean): Readonly<Record<string, unknown>> | null {
  if (event.type !== 'stdout' && event.type !== 'stderr') return null
  return data(hasTerminal ? 'pty' : event.type, event.text)
}

/** Throws for an end that is not the program's own. */
function endOf(row: Execution, result: ExecutionResult | null): Readonly<Record<string, unknown>> {
  if (row.status === 'timed_out')
    throw new RpcError('deadline_exceeded', 'The process reached its time limit and was killed. Start it again with a longer timeout.')
  const exit = result?.exit
  if (typeof exit?.code === 'number') {
    const status = `exit status ${exit.code}`
    return { exitCode: exit.code, exited: true, status, ...(exit.code !== 0 && { error: status }) }
  }
  if (exit?.signal === undefined || exit.signal === null)
    throw new ServiceError(
      'sandbox_unavailable',
      `The process ended without an exit code: ${row.status}${row.reason === null ? '' : ` (${row.reason})`}. Start it again.`,
    )
  const status = `signal: ${exit.signal === 'SIGKILL' ? 'killed' : exit.signal}`
  // E2B has -1 for every signal.
  return { exitCode: codeOfSignal(exit.signal), exited: false, status, error: status }
}

const list = unary({ path: at('List'), scope: 'read', body: () => openObject({}) }, async (call) => {
  const { container } = await useSandbox(call)
  const running = await runningCommands(call, container)
  return {
    processes: running.map(({ row, source, pid, tag }) => ({
      config: { cmd: source.argv[0], args: source.argv.slice(1), envs: row.scope?.env ?? {}, cwd: row.scope?.cwd },
      pid,
      ...(tag !== null && { tag }),
    })),
  }
})

async function send(
  call: Call,
  selector: Described<typeof Selector>,
  input: CommandInputPayload,
): Promise<Readonly<Record<string, unknown>>> {
  const { container } = await useSandbox(call)
  const { row } = await selectCommand(call, container, selector)
  await sendCommandInput(call.deps, row, input)
  return {}
}

const bytes = lazySchema(() => z.base64().or(z.literal('')))
const sendInput = unary(
  {
    path: at('SendInput'),
    scope: 'run',
    body: () => openObject({ process: Selector(), input: openObject({ stdin: bytes().optional(), pty: bytes().optional() }) }),
  },
  (call, { process, input }) => send(call, process, { type: 'stdin', data: input.pty ?? input.stdin ?? '' }),
)

const sendSignal = unary(
  { path: at('SendSignal'), scope: 'run', body: () => openObject({ process: Selector(), signal: z.string() }) },
  (call, { process, signal }) => {
    const number = SIGNALS[signal]
    if (number === undefined)
      throw new ServiceError(
        'unsupported_value',
        `The signal ${JSON.stringify(signal.slice(0, 40))} is not supported. Send one of ${Object.keys(SIGNALS).join(', ')}.`,
      )
    return send(call, process, { type: 'signal', signal: number })
  },
)

const closeStdin = unary({ path: at('CloseStdin'), scope: 'run', body: ofProcess }, (call, { process }) =>
  send(call, process, { type: 'close' }),
)

const update = unary(
  { path: at('Update'), scope: 'run', body: () => openObject({ process: Selector(), pty: Pty().optional() }) },
  async (call, { process, pty }) => (pty?.size === undefined ? {} : send(call, process, { type: 'resize', ...pty.size })),
)

export const processRoutes: readonly AnyRoute[] = [start, connect, list, sendInput, sendSignal, closeStdin, update]
