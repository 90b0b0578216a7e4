import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { boundedRecord, openObject } from '../../model/bounded-schemas.ts'
import { answerSchema } from '../../model/lazy-schema.ts'
import { ServiceError } from '../../model/errors.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import type { Scope } from '../../model/tenants/tenant.ts'
import { jobOf } from '../../operations/access.ts'
import { cancelExecution } from '../../operations/executions/cancel-execution.ts'
import type { Call } from '../../http/route.ts'
import { guardedMethod } from './answers.ts'
import { executionResult, nounOf } from './render-execution.ts'
import { safeParse } from '../../model/safe-parse.ts'

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities'
const POLL_INTERVAL_MS = 1_000

const ClientExtensions = openObject({ extensions: boundedRecord(z.string(), z.unknown(), 100).optional() })

/** Whether the client declared in this request that it reads tasks. A client that did not never gets one. */
export function acceptsTasks({ mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
  const declared = safeParse(ClientExtensions, envelope?.[CAPABILITIES_KEY])
  return declared.success && declared.data.extensions?.[TASKS_EXTENSION] !== undefined
}

/** An execution or a command as a task: both have the same id, and the row is stored before the task is announced. */
export const taskOf = (row: Execution): Readonly<Record<string, unknown>> => ({ resultType: 'task', ...taskFields(row) })

const taskFields = (row: Execution): Readonly<Record<string, unknown>> => ({
  taskId: row.id,
  status: !hasEnded(row.status) ? 'working' : row.status === 'cancelled' ? 'cancelled' : 'completed',
  statusMessage: `The ${nounOf(row)} is ${row.status}.`,
  createdAt: new Date(row.createdAt).toISOString(),
  lastUpdatedAt: new Date(row.endedAt ?? row.startedAt ?? row.createdAt).toISOString(),
  ttlMs: null,
  pollIntervalMs: POLL_INTERVAL_MS,
})

const TaskParams = openObject({ taskId: z.string().max(200) })
const AnyResult = answerSchema(() => z.looseObject({}))

/** A client that declared no tasks could not read what these methods answer. Throws ProtocolError -32021, as the extension demands. */
function requireTasks(context: ServerContext): void {
  if (!acceptsTasks(context))
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } })
}

/** Serves `tasks/get`, `tasks/update` and `tasks/cancel`. No task asks for input, so an update changes nothing. */
export function registerTasks({ server }: McpServer, call: Call): void {
  const find = (id: string, scope: Scope): Promise<Execution> =>
    guardedMethod(() => jobOf(call, id, scope)).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No task ${JSON.stringify(id.slice(0, 80))} exists.`)
    })
  const schemas = { params: TaskParams, result: AnyResult() }
  server.setRequestHandler('tasks/get', schemas, async ({ taskId }, context) => {
    requireTasks(context)
    const row = await find(taskId, 'read')
    const task = taskFields(row)
    return task['status'] === 'completed' ? { ...task, result: await executionResult(call.deps, row) } : { ...task }
  })
  server.setRequestHandler('tasks/update', schemas, async ({ taskId }, context) => {
    requireTasks(context)
    await find(taskId, 'run')
    return {}
  })
  server.setRequestHandler('tasks/cancel', schemas, async ({ taskId }, context) => {
    requireTasks(context)
    const row = await find(taskId, 'run')
    await cancelExecution(call.deps, row)
    return {}
  })
}
