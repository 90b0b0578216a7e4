import { constants } from 'node:os'
import { z } from '@hono/zod-openapi'
import { lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { ServiceError } from '../../../model/errors.ts'
import type { CommandInputPayload } from '../../../model/events.ts'
import { hasEnded, type Execution as ExecutionRow } from '../../../model/executions/execution.ts'
import { LIMITS } from '../../../model/limits.ts'
import { commandOf, containerOf, isVisible } from '../../../operations/access.ts'
import { checkTimeout } from '../../../operations/tenancy/check-limits.ts'
import { runCommand } from '../../../operations/commands/run-command.ts'
import { shellCommand } from '../../../model/executions/shell-command.ts'
import { sendCommandInput } from '../../../operations/commands/send-input.ts'
import { cancelExecution } from '../../../operations/executions/cancel-execution.ts'
import { waitForExecution } from '../../../operations/executions/run-code.ts'
import { scopeOf } from '../../../http/execution-scope.ts'
import { claimId } from '../../../http/claim-id.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, runContext, type AnyRoute, type Call } from '../../../http/route.ts'
import { listOf, listSchema, queryInteger } from '../../../http/schemas.ts'
import { EVENT_STREAM, streamEvents } from '../executions/event-stream.ts'
import { Command, CommandResize, CommandSignal, CommandStdin, RunCommand } from './schema.ts'
import { renderCommand } from './serialize.ts'

const WaitQuery = lazySchema(() =>
  z.strictObject({
    wait: queryInteger(0, LIMITS.maxWaitSeconds, `Seconds to wait for the end, at most ${LIMITS.maxWaitSeconds}.`).optional(),
  }),
)

const runCommandRoute = defineRoute({
  method: 'post',
  path: '/v1/containers/{container_id}/commands',
  scope: 'run',
  operationId: 'runCommand',
  tag: 'Commands',
  summary: 'Run a command',
  description:
    'Commands run beside the code of the container, several at once, under the same limits and without a network. They share `/mnt/data` with it.',
  creates: 'command',
  query: WaitQuery,
  body: RunCommand,
  answers: {
    201: { description: 'The command ended within `wait`. A failing command is a result, not an error.', schema: Command },
    202: {
      description: 'The command is still running; read it again at `Location`.',
      schema: Command,
      headers: { Location: 'The address of the object.' },
    },
  },
  errors: ['container_not_found', 'limit_exceeded', 'too_many_queued', 'concurrency_limit_reached'],
  async handle(call) {
    const { deps, caller, body, rawBody } = call
    const containerId = call.param('container_id')
    const argv = argvOf(body)
    const isBackground = body.background === true
    const { timeoutSeconds: longest } = await deps.limits.of(caller.tenant)
    const timeoutSeconds = await checkTimeout(deps, caller.tenant, body.timeout_seconds ?? (isBackground ? longest : null))
    // A call to a missing container must not claim a key.
    if (call.request.headers.has('idempotency-key')) await containerOf(call, containerId)
    const { execution, isReplay } = await runCommand(runContext(call), {
      containerId,
      argv,
      ...scopeOf(body),
      ...(typeof body.stdin === 'string' && { stdin: body.stdin === 'open' ? 'open' : Buffer.from(body.stdin) }),
      ...(body.pty && { pty: body.pty }),
      timeoutSeconds,
      isBackground,
      metadata: body.metadata ?? {},
      claimed: await claimId(call, 'command', rawBody),
      waitMs: (call.query.wait ?? (isBackground ? 0 : LIMITS.defaultWaitSeconds)) * 1000,
    })
    const headers: Record<string, string> = isReplay ? { 'idempotent-replayed': 'true' } : {}
    const answer = await renderCommand(deps, execution, call)
    if (hasEnded(execution.status)) return json(201, answer, headers)
    return json(202, answer, { ...headers, location: `${call.publicUrl}/v1/commands/${execution.id}` })
  },
})

/** Throws ServiceError when there is not exactly one of both. */
function argvOf({ argv, command }: Described<typeof RunCommand>): readonly string[] {
  const hasArgv = argv !== null && argv !== undefined
  if (hasArgv === (typeof command === 'string'))
    throw new ServiceError(
      'invalid_request',
      `The request has ${hasArgv ? 'both argv and command' : 'neither argv nor command'}. Send one of them.`,
      { param: 'command' },
    )
  if (hasArgv && argv[0] === '')
    throw new ServiceError('invalid_request', 'The first entry of argv is empty. It must name a program.', { param: 'argv[0]' })
  return hasArgv ? argv : shellCommand(command ?? '')
}

const listCommandsRoute = defineRoute({
  method: 'get',
  path: '/v1/containers/{container_id}/commands',
  scope: 'read',
  operationId: 'listCommands',
  tag: 'Commands',
  summary: 'List the running commands of a container',
  description: 'Commands that have not ended, in the foreground and in the background, the oldest first.',
  answers: { 200: { description: 'The commands.', schema: listSchema(Command, 'CommandList') } },
  errors: ['container_not_found', 'too_many_results'],
  async handle(call) {
    const { deps, caller } = call
    const { commands = [], backgroundCommands = [] } = await containerOf(call, call.param('container_id'))
    const rows = await Promise.all([...commands, ...backgroundCommands].map((id) => deps.table.executions.get(caller.tenant, id)))
    const running = rows
      .filter((row) => row !== null && isVisible(row, caller) && !hasEnded(row.status))
      .filter((row) => row !== null)
      .toSorted((a, b) => a.createdAt - b.createdAt)
    const data = []
    for (const row of running) data.push(await renderCommand(deps, row, call))
    return json(200, listOf(data, false))
  },
})

const getCommandRoute = defineRoute({
  method: 'get',
  path: '/v1/commands/{command_id}',
  scope: 'read',
  operationId: 'getCommand',
  tag: 'Commands',
  summary: 'Get a command',
  description: 'With `wait` the answer comes when the command ends, or after that many seconds with the state at that time.',
  query: WaitQuery,
  answers: { 200: { description: 'The command.', schema: Command } },
  errors: ['command_not_found', 'too_many_results'],
  async handle(call) {
    const id = call.param('command_id')
    const read = (): Promise<ExecutionRow> => commandOf(call, id)
    const seconds = call.query.wait ?? 0
    const row = seconds === 0 ? await read() : await waitForExecution(runContext(call), id, read, seconds * 1000)
    return json(200, await renderCommand(call.deps, row, call))
  },
})

const cancelCommandRoute = defineRoute({
  method: 'post',
  path: '/v1/commands/{command_id}/cancel',
  scope: 'run',
  operationId: 'cancelCommand',
  tag: 'Commands',
  summary: 'Cancel a command',
  description: 'Sends SIGTERM and SIGHUP, two seconds later SIGKILL. Idempotent: if it has ended, the answer has its final state.',
  answers: { 200: { description: 'The command as it is now; its end may follow.', schema: Command } },
  errors: ['command_not_found', 'too_many_results'],
  async handle(call) {
    const found = await commandOf(call, call.param('command_id'))
    const row = (await cancelExecution(call.deps, found)) ?? found
    return json(200, await renderCommand(call.deps, row, call))
  },
})

const commandEventsRoute = defineRoute({
  method: 'get',
  path: '/v1/commands/{command_id}/events',
  scope: 'read',
  operationId: 'streamCommandEvents',
  tag: 'Commands',
  summary: 'Follow a command',
  description:
    'Server-sent events, numbered from 0 without a gap: `status`, `stdout`, `stderr`, `file`, `lost`, and `done` last. Resume with `after` or `Last-Event-ID`.',
  ...EVENT_STREAM,
  errors: ['command_not_found', 'too_many_streams'],
  handle: (call) => streamEvents(call, () => commandOf(call, call.param('command_id'))),
})

const INPUT = {
  answers: { 202: { description: 'The command; it receives the input in the order of the calls.', schema: Command } },
  errors: ['command_not_found', 'conflict', 'too_many_results'],
} as const

async function send(call: Call, inputs: readonly CommandInputPayload[]): Promise<Response> {
  const row = await commandOf(call, call.param('command_id'))
  for (const input of inputs) await sendCommandInput(call.deps, row, input)
  return json(202, await renderCommand(call.deps, row, call))
}

const commandStdinRoute = defineRoute({
  method: 'post',
  path: '/v1/commands/{command_id}/stdin',
  scope: 'run',
  operationId: 'sendCommandStdin',
  tag: 'Commands',
  summary: 'Send input to a command',
  description: 'For a command that was started with `"stdin": "open"` or a `pty`. A repeated call sends the data twice.',
  body: CommandStdin,
  ...INPUT,
  handle: (call) => {
    const { data, close } = call.body
    const inputs: CommandInputPayload[] = []
    if (typeof data === 'string' && data !== '') inputs.push({ type: 'stdin', data: Buffer.from(data).toString('base64') })
    if (close === true) inputs.push({ type: 'close' })
    return send(call, inputs)
  },
})

const commandSignalRoute = defineRoute({
  method: 'post',
  path: '/v1/commands/{command_id}/signal',
  scope: 'run',
  operationId: 'signalCommand',
  tag: 'Commands',
  summary: 'Send a signal to a command',
  description: 'To its process group; SIGKILL to every process of its session.',
  body: CommandSignal,
  ...INPUT,
  handle: (call) => send(call, [{ type: 'signal', signal: constants.signals[call.body.signal as NodeJS.Signals] }]),
})

const commandResizeRoute = defineRoute({
  method: 'post',
  path: '/v1/commands/{command_id}/resize',
  scope: 'run',
  operationId: 'resizeCommand',
  tag: 'Commands',
  summary: 'Resize the terminal of a command',
  body: CommandResize,
  ...INPUT,
  handle: (call) => send(call, [{ type: 'resize', cols: call.body.cols, rows: call.body.rows }]),
})

export const commandRoutes: readonly AnyRoute[] = [
  runCommandRoute,
  listCommandsRoute,
  getCommandRoute,
  cancelCommandRoute,
  commandEventsRoute,
  commandStdinRoute,
  commandSignalRoute,
  commandResizeRoute,
]
