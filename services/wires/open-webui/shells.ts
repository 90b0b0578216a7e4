import * as z from 'zod'
import { openObject } from '../../model/bounded-schemas.ts'
import { ServiceError } from '../../model/errors.ts'
import type { CommandInputPayload } from '../../model/events.ts'
import type { Execution } from '../../model/executions/execution.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import { LIMITS } from '../../model/limits.ts'
import type { Scope } from '../../model/tenants/tenant.ts'
import { sendCommandInput } from '../../operations/commands/send-input.ts'
import { cancelExecution } from '../../operations/executions/cancel-execution.ts'
import { executionEvents } from '../../operations/executions/execution-events.ts'
import type { ApiDeps } from '../../http/deps.ts'
import { messageAccount } from '../../http/message-account.ts'
import { readBody } from '../../http/read-body.ts'
import { readJsonMessage } from '../../http/read-json.ts'
import { json } from '../../http/responses.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { streamCall } from '../../http/stream-call.ts'
import { processOf, runningOf, startInTerminal } from './processes.ts'
import { count, publicRoute, terminalRoute } from './routing.ts'
import { useTerminal } from './terminal.ts'

const SHELL = ['/bin/bash', '-l'] as const
const ROUTE = 'open-webui shell'
const LINES = { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store', 'x-accel-buffering': 'no' } as const

const shown = ({ id, createdAt }: Execution) => ({ id, created_at: new Date(createdAt).toISOString(), pid: null })

async function create(call: Call): Promise<Response> {
  const terminal = await useTerminal(call, 'run')
  const env = { TERM: 'xterm-256color' }
  const row = await startInTerminal(call, terminal, { kind: 'shell', argv: SHELL, env, cwd: terminal.folder, waitMs: 0 })
  return json(200, shown(row))
}

const list = async (call: Call): Promise<Response> => json(200, (await runningOf(call, 'shell')).map(shown))

const shellOf = async (call: Call, scope: Scope): Promise<Execution> =>
  (await processOf(call, { id: call.param('terminal_id'), kind: 'shell', scope })).row

async function remove(call: Call): Promise<Response> {
  await cancelExecution(call.deps, await shellOf(call, 'run'))
  return json(200, { status: 'deleted' })
}

/** The handshake of a WebSocket. Its first message has the key, so until then anyone may have opened it. */
function connect(call: Call): Response {
  const { sockets } = call.deps
  if (sockets === undefined || call.request.headers.get('upgrade')?.toLowerCase() !== 'websocket')
    throw new ServiceError('upgrade_required', 'A shell is a WebSocket, which needs a server on one machine. Run single commands instead.')
  sockets.admitUnknown(call.request, (owner) => messageAccount(call, { owner, route: ROUTE }))
  return json(200, {})
}

const After = lazySchema(() => z.object({ after: count(0).default(0) }))

/** What a shell prints, as lines of JSON with numbers, by which a reader resumes. */
async function follow(call: Call<z.infer<ReturnType<typeof After>>>): Promise<Response> {
  const { deps, caller, request, query } = call
  const row = await shellOf(call, 'run')
  const { openStreams: max } = await deps.limits.of(caller.tenant)
  deps.sockets?.identify(request, { caller, max, messages: messageAccount(call, { owner: caller.tenant, route: ROUTE }) })
  return streamCall(call, async () => (signal) => lines(deps, row, { after: query.after, signal }), LINES)
}

async function* lines(
  deps: ApiDeps,
  row: Execution,
  options: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<string, void, undefined> {
  for await (const event of executionEvents(deps, row, { ...options, isExact: true })) {
    if (event === null) yield '\n'
    else if (event.type === 'stdout' || event.type === 'stderr') yield `${JSON.stringify({ seq: event.seq, text: event.text })}\n`
    else if (event.type === 'done') yield `${JSON.stringify({ isOver: true })}\n`
  }
}

const send = async (call: Call, input: CommandInputPayload): Promise<Response> => {
  await sendCommandInput(call.deps, await shellOf(call, 'run'), input)
  return json(200, { status: 'ok' })
}

const input = async (call: Call): Promise<Response> => {
  const bytes = Buffer.from(await readBody(call.request, LIMITS.maxCommandInputBytes))
  return send(call, { type: 'stdin', data: bytes.toString('base64') })
}

const cells = () => z.int().min(1).max(1_000)
const Size = lazySchema(() => openObject({ cols: cells(), rows: cells() }))

const resize = async (call: Call): Promise<Response> => {
  const { cols, rows } = await readJsonMessage(call.request, Size())
  return send(call, { type: 'resize', cols, rows })
}

const PATH = '/api/terminals/{terminal_id}'

/** The last three are those of the messages of a WebSocket. */
export const shellRoutes: readonly AnyRoute[] = [
  terminalRoute({ method: 'get', path: '/api/terminals', scope: 'read', handle: list }),
  terminalRoute({ method: 'post', path: '/api/terminals', scope: 'run', handle: create }),
  publicRoute(PATH, connect),
  terminalRoute({ method: 'delete', path: PATH, scope: 'run', handle: remove }),
  terminalRoute({ method: 'get', path: `${PATH}/output`, scope: 'run', query: After, handle: follow }),
  terminalRoute({ method: 'post', path: `${PATH}/input`, scope: 'run', handle: input }),
  terminalRoute({ method: 'post', path: `${PATH}/size`, scope: 'run', ownBody: Size, handle: resize }),
]
