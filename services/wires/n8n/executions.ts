import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { openObject } from '../../model/bounded-schemas.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import type { Container } from '../../model/containers/container.ts'
import { ServiceError } from '../../model/errors.ts'
import type { Execution } from '../../model/executions/execution.ts'
import { derivedId } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import type { Scope } from '../../model/tenants/tenant.ts'
import { runCommand } from '../../operations/commands/run-command.ts'
import { cancelExecution } from '../../operations/executions/cancel-execution.ts'
import { commandArgument, environment, osText } from '../../http/execution-scope.ts'
import { readJsonMessage } from '../../http/read-json.ts'
import { runContext, type AnyRoute, type Call } from '../../http/route.ts'
import { streamCall } from '../../http/stream-call.ts'
import { checkHistory, eventLines } from './event-lines.ts'
import { sandboxRoute } from './routing.ts'
import { sandboxByUuid } from './sandbox.ts'

/** The folder whose files outlive the sandbox, by the name that n8n has for it. */
const HOME = '/home/user'
/** For a command whose client names no time, milliseconds. */
const DEFAULT_MS = 300_000

const Run = lazySchema(() =>
  openObject({
    command: commandArgument().min(1),
    env: environment().nullish(),
    workdir: osText(LIMITS.maxPathBytes).nullish(),
    timeout_ms: z.int().min(0).nullish(),
    exec_id: z
      .string()
      .regex(/^[\w-]{1,128}$/, 'give 1 to 128 letters, digits, - and _')
      .nullish(),
  }),
)

const headersOf = (execId: string): Readonly<Record<string, string>> => ({
  'content-type': 'application/x-ndjson',
  'cache-control': 'no-store',
  // Asks proxies not to buffer events.
  'x-accel-buffering': 'no',
  'x-exec-id': execId,
})

/** The id of the command is derived, so that each worker finds it by the client's id, and a repeated call does not run it twice. */
const commandIdOf = (container: Pick<Container, 'id' | 'createdAt'>, execId: string): string =>
  derivedId('command', container.createdAt, `${container.id}:${execId}`)

/** Clients delete an execution to cancel it; from then on it does not exist for them. */
const isDeleted = (row: Execution): boolean => row.cancelRequestedAt !== null

const missing = (): ServiceError => new ServiceError('command_not_found', 'execution not found')

/** Seconds: what the request asks for, at most what the account has. */
async function timeLimit({ deps, caller }: Call, timeoutMs: number | null | undefined): Promise<number> {
  const { timeoutSeconds } = await deps.limits.of(caller.tenant)
  const asked = Math.ceil((timeoutMs || DEFAULT_MS) / 1000)
  return Math.min(asked, timeoutSeconds, LIMITS.maxTimeoutSeconds)
}

/** Runs a command, or follows the one that an earlier call with the same id started. A client that disconnects leaves it running. */
async function run(call: Call): Promise<Response> {
  const { deps } = call
  const { command, env, workdir, timeout_ms: timeoutMs, exec_id: asked } = await readJsonMessage(call.request, Run())
  const container = await sandboxByUuid(call, 'run')
  const execId = asked ?? randomUUID()
  const id = commandIdOf(container, execId)
  const cwd = workdir || HOME
  const open = async () => {
    const earlier = await deps.table.executions.get(container.tenant, id)
    if (earlier !== null && isDeleted(earlier)) throw missing()
    const { execution } = await runCommand(runContext(call), {
      containerId: container.id,
      argv: ['/bin/sh', '-c', command],
      env: { HOME, PWD: cwd, ...env },
      cwd,
      timeoutSeconds: await timeLimit(call, timeoutMs),
      claimed: { id, at: deps.clock.now(), isReplay: earlier !== null },
      waitMs: 0,
    })
    return (signal: AbortSignal) => eventLines(deps, execution, { execId, after: -1, isFollowed: true, signal })
  }
  return streamCall(call, open, headersOf(execId))
}

/** Null for an execution that the sandbox does not have. */
async function find(call: Call, scope: Scope): Promise<Execution | null> {
  const container = await sandboxByUuid(call, scope)
  const row = await call.deps.table.executions.get(container.tenant, commandIdOf(container, call.param('exec_id')))
  return row === null || isDeleted(row) ? null : row
}

const Resume = lazySchema(() =>
  z.object({
    after: z
      .string()
      .regex(/^\d{1,15}$/, 'give a whole number')
      .transform(Number)
      .optional(),
    follow: z.enum(['true', 'false']).optional(),
  }),
)

async function resume(call: Call<z.infer<ReturnType<typeof Resume>>>): Promise<Response> {
  const { deps, query } = call
  const row = await find(call, 'read')
  if (row === null) throw missing()
  const options = { execId: call.param('exec_id'), after: query.after ?? -1, isFollowed: query.follow === 'true' }
  await checkHistory(deps, row, options.after)
  return streamCall(call, async () => (signal) => eventLines(deps, row, { ...options, signal }), headersOf(options.execId))
}

async function remove(call: Call): Promise<Response> {
  const row = await find(call, 'run')
  if (row !== null) await cancelExecution(call.deps, row)
  return new Response(null, { status: 204 })
}

const PATH = '/sandboxes/{sandbox_uuid}/executions'

export const executionRoutes: readonly AnyRoute[] = [
  sandboxRoute({ method: 'post', path: PATH, scope: 'run', ownBody: Run, handle: run }),
  sandboxRoute({ method: 'get', path: `${PATH}/{exec_id}`, scope: 'read', query: Resume, handle: resume }),
  sandboxRoute({ method: 'delete', path: `${PATH}/{exec_id}`, scope: 'run', handle: remove }),
]
