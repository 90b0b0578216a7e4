import { constants } from 'node:os'
import type { Described } from '../../../model/lazy-schema.ts'
import { ServiceError } from '../../../model/errors.ts'
import type { CommandInputPayload } from '../../../model/events.ts'
import { commandsOf } from '../../../model/containers/container.ts'
import { hasEnded } from '../../../model/executions/execution.ts'
import { LIMITS } from '../../../model/limits.ts'
import { containerOf, visibleTo } from '../../../operations/access.ts'
import { argumentsOf } from '../../../operations/executions/store-source.ts'
import { checkTimeout } from '../../../operations/tenancy/check-limits.ts'
import { runCommand } from '../../../operations/commands/run-command.ts'
import { shellCommand } from '../../../model/executions/command-arguments.ts'
import { sendCommandInput } from '../../../operations/commands/send-input.ts'
import { scopeOf } from '../../../http/execution-scope.ts'
import { claimId } from '../../../http/claim-id.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, runContext, type AnyRoute, type Call } from '../../../http/route.ts'
import { listOf, listSchema } from '../../../http/schemas.ts'
import { Command, CommandResize, CommandSignal, CommandStdin, RunCommand, WaitQuery } from './schema.ts'
import { answerRun, renderFor, rowOf, runAnswers, workRoutes, type WorkWire } from '../work/routes.ts'
import { commandSourceOf } from '../../../model/executions/work-kinds.ts'
import type { Fields, RenderDeps, Rendered } from '../work/render-work.ts'

/** The fields that only commands have. */
async function commandFields({ objects }: RenderDeps, { row, result, soFar }: Rendered): Promise<Fields> {
  const source = commandSourceOf(row)
  const { isBackground, pty } = source
  const { stdout, stderr } = result ?? soFar
  return {
    argv: await argumentsOf(objects, source),
    cwd: row.scope?.cwd ?? null,
    background: isBackground,
    pty,
    exit_code: result?.exit?.code ?? null,
    signal: result?.exit?.signal ?? null,
    stdout,
    stderr,
  }
}

const COMMANDS: WorkWire = {
  kind: 'command',
  noun: 'a command',
  schema: Command,
  query: WaitQuery,
  fields: commandFields,
  cancelling: 'Sends SIGTERM and SIGHUP, two seconds later SIGKILL.',
  events: '`status`, `stdout`, `stderr`, `file`, `lost`',
}

const runCommandRoute = defineRoute({
  method: 'post',
  path: '/v1/containers/{container_id}/commands',
  auth: 'session',
  scope: 'run',
  operationId: 'runCommand',
  tag: 'Commands',
  summary: 'Run a command',
  description:
    'Commands run beside the code of the container, several at once, under the same limits and without a network. They share `/mnt/data` with it.',
  creates: 'command',
  query: WaitQuery,
  body: RunCommand,
  answers: runAnswers(COMMANDS, 'A failing command'),
  errors: ['container_not_found', 'limit_exceeded', 'too_many_queued', 'concurrency_limit_reached'],
  async handle(call) {
    const { deps, caller, body, rawBody } = call
    const containerId = call.param('container_id')
    const argv = argvOf(body)
    const isBackground = body.background === true
    const { timeoutSeconds: longest } = await deps.limits.of(caller.tenant)
    const timeoutSeconds = await checkTimeout(deps, caller.tenant, body.timeout_seconds ?? (isBackground ? longest : null))
    // A call to a missing container must not claim a key.
    if (call.request.headers.has('idempotency-key')) await containerOf(call, containerId, 'run')
    const result = await runCommand(runContext(call), {
      containerId,
      argv,
      ...scopeOf(body),
      ...(typeof body.stdin === 'string' && { stdin: body.stdin === 'open' ? 'open' : Buffer.from(body.stdin) }),
      ...(body.pty && { pty: body.pty }),
      timeoutSeconds,
      isBackground,
      metadata: body.metadata ?? {},
      claimed: await claimId(call, 'command', { body: rawBody }),
      waitMs: (call.query.wait ?? (isBackground ? 0 : LIMITS.defaultWaitSeconds)) * 1000,
    })
    return answerRun(call, COMMANDS, result)
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
  auth: 'session',
  scope: 'read',
  operationId: 'listCommands',
  tag: 'Commands',
  summary: 'List the running commands of a container',
  description: 'Commands that have not ended, in the foreground and in the background, the oldest first.',
  answers: { 200: { description: 'The commands.', schema: listSchema(Command, 'CommandList') } },
  errors: ['container_not_found', 'too_many_results'],
  async handle(call) {
    const { deps, caller } = call
    const container = await containerOf(call, call.param('container_id'), 'read')
    const isVisible = visibleTo(caller, 'read')
    const rows = await Promise.all(commandsOf(container).map((id) => deps.table.executions.get(caller.tenant, id)))
    const running = rows
      .filter((row) => row !== null && isVisible(row) && !hasEnded(row.status))
      .filter((row) => row !== null)
      .toSorted((a, b) => a.createdAt - b.createdAt)
    const data = []
    for (const row of running) data.push(await renderFor(call, row, { wire: COMMANDS }))
    return json(200, listOf(data, false))
  },
})

const INPUT = {
  answers: { 202: { description: 'The command; it receives the input in the order of the calls.', schema: Command } },
  errors: ['command_not_found', 'conflict', 'too_many_results'],
} as const

async function send(call: Call, inputs: readonly CommandInputPayload[]): Promise<Response> {
  const row = await rowOf(call, COMMANDS, 'run')
  for (const input of inputs) await sendCommandInput(call.deps, row, input)
  return json(202, await renderFor(call, row, { wire: COMMANDS }))
}

const commandStdinRoute = defineRoute({
  method: 'post',
  path: '/v1/commands/{command_id}/stdin',
  auth: 'session',
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
  auth: 'session',
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
  auth: 'session',
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
  ...workRoutes(COMMANDS),
  commandStdinRoute,
  commandSignalRoute,
  commandResizeRoute,
]
