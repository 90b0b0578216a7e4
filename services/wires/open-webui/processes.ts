import { constants } from 'node:os'
import * as z from 'zod'
import { openObject } from '../../model/bounded-schemas.ts'
import { ServiceError } from '../../model/errors.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { shellCommand } from '../../model/executions/command-arguments.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import { LIMITS } from '../../model/limits.ts'
import type { Scope } from '../../model/tenants/tenant.ts'
import { workRowOf } from '../../operations/access.ts'
import { runCommand } from '../../operations/commands/run-command.ts'
import { sendCommandInput } from '../../operations/commands/send-input.ts'
import { cancelExecution } from '../../operations/executions/cancel-execution.ts'
import { RUN_ANSWER_BYTES } from '../../operations/executions/result-budget.ts'
import { waitForExecution } from '../../operations/executions/run-code.ts'
import { HOME } from '../../operations/files/sandbox-path.ts'
import { commandArgument, environment, osText } from '../../http/execution-scope.ts'
import { readJsonMessage } from '../../http/read-json.ts'
import { json } from '../../http/responses.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { describeProcess, stateOf } from './output.ts'
import { count, flag, terminalRoute } from './routing.ts'
import { chatOf, findTerminal, useTerminal, type Terminal } from './terminal.ts'

/** Metadata of commands of this wire: their chat, and what they are. */
const CHAT_METADATA = 'open_webui_chat'
const KIND_METADATA = 'open_webui_kind'
type Kind = 'process' | 'shell'
/** How long the protocol lets a call wait, seconds. */
const MAX_WAIT_SECONDS = 300
/** How long the end of a killed process is waited for, milliseconds. */
const KILL_MS = 10_000
const SIZE = { cols: 80, rows: 24 } as const

const Execute = lazySchema(() =>
  openObject({
    command: commandArgument().min(1),
    cwd: osText(LIMITS.maxPathBytes).nullish(),
    env: environment().nullish(),
  }),
)
const seconds = () =>
  z
    .string()
    .regex(/^\d{1,3}(?:\.\d{1,9})?$/, 'give seconds')
    .transform(Number)
    .pipe(z.number().max(MAX_WAIT_SECONDS))
const Wait = lazySchema(() => z.object({ wait: seconds().optional(), tail: count(1).optional() }))
const Status = lazySchema(() => z.object({ wait: seconds().optional(), offset: count(0).default(0), tail: count(1).optional() }))
const Kill = lazySchema(() => z.object({ force: flag().optional() }))

/** The longest that the account has: the process runs on when the call has been answered. */
const longest = async ({ deps, caller }: Call): Promise<number> =>
  Math.min((await deps.limits.of(caller.tenant)).timeoutSeconds, LIMITS.maxTimeoutSeconds)

const waitMs = ({ deps }: Call, wait = 0): number => Math.min(wait, deps.config.maxHoldSeconds) * 1000

/** Starts a program in a terminal: it prints as it does for a person, and takes input while it runs. */
export async function startInTerminal(
  call: Call,
  terminal: Terminal,
  wanted: {
    readonly kind: Kind
    readonly argv: readonly string[]
    readonly env: Readonly<Record<string, string>>
    readonly cwd: string
    readonly waitMs: number
  },
): Promise<Execution> {
  const { kind, argv, env, cwd } = wanted
  call.deps.results.reserve(RUN_ANSWER_BYTES)
  const { execution } = await runCommand(terminal.context, {
    containerId: terminal.container.id,
    argv,
    env: { HOME, PWD: cwd, ...env },
    cwd,
    pty: SIZE,
    timeoutSeconds: await longest(call),
    metadata: { [CHAT_METADATA]: chatOf(call), [KIND_METADATA]: kind },
    waitMs: wanted.waitMs,
  })
  return execution
}

/** No colours, and no pager that waits for a key. */
const PLAIN = { TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat' } as const

async function execute(call: Call<z.infer<ReturnType<typeof Wait>>>): Promise<Response> {
  const { command, cwd, env } = await readJsonMessage(call.request, Execute())
  const terminal = await useTerminal(call, 'run')
  const row = await startInTerminal(call, terminal, {
    kind: 'process',
    argv: shellCommand(command),
    env: { ...PLAIN, ...env },
    cwd: typeof cwd === 'string' && cwd !== '' ? terminal.pathOf(cwd).shown : terminal.folder,
    waitMs: waitMs(call, call.query.wait),
  })
  return json(200, await describeProcess(call, row, { offset: 0, tail: call.query.tail }))
}

/** A process of this user and chat. One of another user, one of another chat and one that never existed get the same answer. Throws ServiceError. */
export async function processOf(
  call: Call,
  { id, kind, scope }: { readonly id: string; readonly kind: Kind; readonly scope: Scope },
): Promise<{ readonly row: Execution; readonly terminal: Terminal }> {
  const terminal = await findTerminal(call, scope)
  const row = terminal === null ? null : await workRowOf(call, { kind: 'command', id }, scope)
  if (terminal === null || row === null || row.containerId !== terminal.container.id || !isOf(row, kind, chatOf(call)))
    throw new ServiceError('command_not_found', 'There is no such process.')
  return { row, terminal }
}

const isOf = ({ metadata }: Execution, kind: Kind, chat: string): boolean =>
  metadata[KIND_METADATA] === kind && metadata[CHAT_METADATA] === chat

/** Those of this user and chat that have not ended, the oldest first. */
export async function runningOf(call: Call, kind: Kind): Promise<readonly Execution[]> {
  const terminal = await findTerminal(call, 'read')
  const rows = await Promise.all((terminal?.container.commands ?? []).map((id) => call.deps.table.executions.get(call.caller.tenant, id)))
  const chat = chatOf(call)
  return rows
    .flatMap((row) => (row !== null && !hasEnded(row.status) && isOf(row, kind, chat) ? [row] : []))
    .toSorted((a, b) => a.createdAt - b.createdAt)
}

const list = async (call: Call): Promise<Response> =>
  json(
    200,
    (await runningOf(call, 'process')).map((row) => stateOf(row, null)),
  )

const idOf = (call: Call): string => call.param('process_id')

async function status(call: Call<z.infer<ReturnType<typeof Status>>>): Promise<Response> {
  const { wait, offset, tail } = call.query
  const { row, terminal } = await processOf(call, { id: idOf(call), kind: 'process', scope: 'read' })
  const ended = hasEnded(row.status) || wait === undefined ? row : await ending(terminal, row, waitMs(call, wait))
  return json(200, await describeProcess(call, ended, { offset, tail }))
}

const ending = ({ context }: Terminal, row: Execution, ms: number): Promise<Execution> => {
  const read = async (): Promise<Execution> => (await context.deps.table.executions.get(row.tenant, row.id)) ?? row
  return waitForExecution(context, row.id, { read, waitMs: ms })
}

const Input = lazySchema(() => openObject({ input: z.string() }))
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b', f: '\f', v: '\v', '0': '\0', '\\': '\\' }

/** Models write control characters as escape sequences, such as `\n` and `\x03`. */
export const unescaped = (text: string): string =>
  text.replaceAll(
    /\\(?:([nrtabfv0\\])|x([0-9a-f]{2})|u([0-9a-f]{4}))/gi,
    (whole, ...[short, byte, unit]: readonly (string | undefined)[]) =>
      short === undefined ? String.fromCharCode(Number.parseInt(byte ?? unit ?? '', 16)) : (ESCAPES[short] ?? whole),
  )

async function input(call: Call): Promise<Response> {
  const body = await readJsonMessage(call.request, Input())
  const { row } = await processOf(call, { id: idOf(call), kind: 'process', scope: 'run' })
  await sendCommandInput(call.deps, row, { type: 'stdin', data: Buffer.from(unescaped(body.input)).toString('base64') })
  return json(200, { status: 'ok' })
}

async function kill(call: Call<z.infer<ReturnType<typeof Kill>>>): Promise<Response> {
  const { row, terminal } = await processOf(call, { id: idOf(call), kind: 'process', scope: 'run' })
  if (!hasEnded(row.status)) {
    // One that no sandbox has yet gets no signal.
    if (call.query.force === true || row.startedAt === null) await cancelExecution(call.deps, row)
    else await terminate(call, row)
    await ending(terminal, row, KILL_MS)
  }
  return json(200, { status: 'killed' })
}

async function terminate({ deps }: Call, row: Execution): Promise<void> {
  try {
    await sendCommandInput(deps, row, { type: 'signal', signal: constants.signals.SIGTERM })
  } catch (error) {
    // It has ended meanwhile.
    if (!(error instanceof ServiceError) || error.code !== 'conflict') throw error
  }
}

const PATH = '/execute/{process_id}'

export const processRoutes: readonly AnyRoute[] = [
  terminalRoute({ method: 'get', path: '/execute', scope: 'read', handle: list }),
  terminalRoute({ method: 'post', path: '/execute', scope: 'run', query: Wait, ownBody: Execute, handle: execute }),
  terminalRoute({ method: 'get', path: `${PATH}/status`, scope: 'read', query: Status, handle: status }),
  terminalRoute({ method: 'post', path: `${PATH}/input`, scope: 'run', ownBody: Input, handle: input }),
  terminalRoute({ method: 'delete', path: PATH, scope: 'run', query: Kill, handle: kill }),
]
