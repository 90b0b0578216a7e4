import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Container } from '../../model/containers/container.ts'
import { defaultPolicy } from '../../operations/network/new-policy.ts'
import { createContainer } from '../../operations/containers/create-container.ts'
import { ServiceError } from '../../model/errors.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { EXECUTION_LANGUAGES, type ExecutionLanguage } from '../../model/executions/language.ts'
import { LIMITS } from '../../model/limits.ts'
import { containerOf, jobOf } from '../../operations/access.ts'
import { checkTimeout } from '../../operations/tenancy/check-limits.ts'
import { cancelExecution } from '../../operations/executions/cancel-execution.ts'
import { runCommand } from '../../operations/commands/run-command.ts'
import { shellCommand } from '../../model/executions/command-arguments.ts'
import { runCode, waitForExecution, type RunCodeResult, type RunContext } from '../../operations/executions/run-code.ts'
import { checkSource } from '../../operations/executions/source.ts'
import { runContext, type Call } from '../../http/route.ts'
import { answer, guarded, text, type Tools } from './answers.ts'
import { executionResult, nounOf } from './render-execution.ts'
import { acceptsTasks, taskOf } from './tasks.ts'
import { toolSchema } from './tool-schema.ts'

/** A client that reads tasks gets one for code that runs longer than this, milliseconds. */
const TASK_AFTER_MS = 5_000
/** The wait is divided into slices; after each one the client gets a progress notification, milliseconds. */
const SLICE_MS = 5_000

const CONTAINER = z.string().max(200).optional().describe('Container of an earlier call.')
const TIMEOUT = z.int().min(1).max(LIMITS.maxTimeoutSeconds).optional().describe('Longest run time, 120 by default.')

/** Definitions of tools are made once: zod compiles a schema when it is first used, and every request has its own server. */
const EXECUTE_CODE = {
  title: 'Run code',
  description:
    'Runs Python, or another language, in a stateful notebook session without a network. Variables, imports and files in /mnt/data persist between calls with the same container_id. Without container_id a new container is created; the result names it.',
  inputSchema: toolSchema(
    z.object({
      code: z
        .string()
        .min(1)
        .describe('Source; for Python, IPython magics and "!" shell lines work. The value of the last expression is returned.'),
      language: z
        .enum(EXECUTION_LANGUAGES)
        .optional()
        .describe('python by default. Each other language of the image has a session that keeps its own variables.'),
      container_id: CONTAINER,
      timeout_seconds: TIMEOUT,
    }),
  ),
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
}
const RUN_COMMAND = {
  title: 'Run a shell command',
  description:
    'Runs a command line with bash in a container, beside its Python session and without a network. The working directory is /mnt/data. Without container_id a new container is created.',
  inputSchema: toolSchema(
    z.object({
      command: z.string().min(1).describe('For example: ls -la | head'),
      container_id: CONTAINER,
      timeout_seconds: TIMEOUT,
      cwd: z.string().max(4_096).optional().describe('Relative to /mnt/data, or absolute.'),
    }),
  ),
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
}
const GET_EXECUTION = {
  title: 'Read an execution',
  description: 'Waits for code or a command that still runs and returns its result.',
  inputSchema: toolSchema(
    z.object({
      execution_id: z.string().max(200).describe('Id of the execution or command.'),
      wait_seconds: z.int().min(0).max(LIMITS.maxWaitSeconds).optional().describe('Longest wait for the end, 30 by default.'),
    }),
  ),
  annotations: { readOnlyHint: true, openWorldHint: false },
}
const INTERRUPT = {
  title: 'Stop running code',
  description: 'Interrupts an execution or a command, or everything that runs and waits in a container. Variables stay.',
  inputSchema: toolSchema(z.object({ execution_id: z.string().max(200).optional(), container_id: z.string().max(200).optional() })),
  outputSchema: z.object({ interrupted: z.array(z.object({ id: z.string(), status: z.string() })) }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
}

/** Tools that run code and commands, read their results and stop them. */
export const EXECUTION_TOOLS: Tools = {
  execute_code: (server, call) =>
    server.registerTool('execute_code', EXECUTE_CODE, (given, context) =>
      guarded(call, 'execute_code', () => executeCode(call, given, context)),
    ),
  run_command: (server, call) =>
    server.registerTool('run_command', RUN_COMMAND, (given, context) =>
      guarded(call, 'run_command', () => executeCommand(call, given, context)),
    ),
  get_execution: (server, call) =>
    server.registerTool(
      'get_execution',
      GET_EXECUTION,
      ({ execution_id: id, wait_seconds: wait = LIMITS.defaultWaitSeconds }, { mcpReq }) =>
        guarded(call, 'get_execution', async () => {
          const { deps } = call
          await jobOf(call, id, 'read')
          const row = await waitForExecution({ ...runContext(call), signal: mcpReq.signal }, id, {
            read: () => jobOf(call, id, 'read'),
            waitMs: wait * 1000,
          })
          return executionResult(deps, row)
        }),
    ),
  interrupt: (server, call) =>
    server.registerTool('interrupt', INTERRUPT, (given) => guarded(call, 'interrupt', () => interrupt(call, given))),
}

interface GivenCode {
  readonly code: string
  readonly language?: ExecutionLanguage | undefined
  readonly container_id?: string | undefined
  readonly timeout_seconds?: number | undefined
}

async function executeCode(call: Call, given: GivenCode, context: ServerContext): Promise<CallToolResult> {
  const source = checkSource({ code: given.code })
  const language = given.language === undefined ? {} : { language: given.language }
  return finish(call, given, { context, start: (run, rest) => runCode(run, { source, ...language, ...rest }) })
}

interface GivenCommand extends Omit<GivenCode, 'code' | 'language'> {
  readonly command: string
  readonly cwd?: string | undefined
}

async function executeCommand(call: Call, given: GivenCommand, context: ServerContext): Promise<CallToolResult> {
  const argv = shellCommand(given.command)
  const where = given.cwd === undefined ? {} : { cwd: given.cwd }
  return finish(call, given, { context, start: (run, rest) => runCommand(run, { argv, ...where, ...rest }) })
}

type Start = (
  run: RunContext,
  rest: { readonly containerId: string; readonly timeoutSeconds: number; readonly waitMs: number },
) => Promise<RunCodeResult>

/** Starts code or a command, and answers with its result, or with a task where the client reads tasks and the end takes longer. */
async function finish(
  call: Call,
  given: Omit<GivenCode, 'code' | 'language'>,
  { context, start }: { readonly context: ServerContext; readonly start: Start },
): Promise<CallToolResult> {
  const { deps, caller } = call
  const timeoutSeconds = await checkTimeout(deps, caller.tenant, given.timeout_seconds)
  const containerId = given.container_id ?? (await newContainer(call, 'mcp'))
  const run = { ...runContext(call), signal: context.mcpReq.signal }
  // Without the scope `read` the client could not poll the task.
  const hasTasks = acceptsTasks(context) && caller.scopes.includes('read')
  const { execution } = await start(run, { containerId, timeoutSeconds, waitMs: hasTasks ? TASK_AFTER_MS : SLICE_MS })
  if (hasTasks && !hasEnded(execution.status) && !context.mcpReq.signal.aborted) return taskOf(execution) as unknown as CallToolResult
  const row = await waitWithProgress(call, context, execution)
  // A client that closes the call cancels it.
  if (context.mcpReq.signal.aborted && !hasEnded(row.status)) await cancelExecution(deps, row)
  return executionResult(deps, row)
}

/** Waits until the end, or for the maximum time of a call. Progress notifications keep the call alive at the client. */
async function waitWithProgress(call: Call, { mcpReq }: ServerContext, first: Execution): Promise<Execution> {
  const { deps } = call
  const until = deps.clock.now() + deps.config.maxHoldSeconds * 1000
  const context = runContext(call)
  const { signal: over } = await context.hold()
  const progressToken = mcpReq._meta?.progressToken
  let row = first
  let slices = 0
  while (!hasEnded(row.status) && !mcpReq.signal.aborted && over?.aborted !== true && deps.clock.now() < until) {
    slices++
    if (progressToken !== undefined) {
      const message = `The ${nounOf(row)} is ${row.status}.`
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: slices, message } })
    }
    row = await waitForExecution({ ...context, signal: mcpReq.signal }, row.id, {
      read: () => jobOf(call, row.id, 'run'),
      waitMs: SLICE_MS,
    })
  }
  return row
}

export async function newContainer({ deps, caller }: Call, name: string, memoryTier: '1g' | '4g' | '16g' | '64g' = '1g'): Promise<string> {
  const { tenant, subject } = caller
  const network = await defaultPolicy(deps, tenant)
  return (await createContainer(deps.table, { tenant, subject, name, memoryTier, network }, deps.clock.now())).id
}

/** Everything that runs and waits in a container. */
const runningIn = ({ queue, commands = [], backgroundCommands = [] }: Container): readonly string[] => [
  ...queue,
  ...commands,
  ...backgroundCommands,
]

async function interrupt(
  call: Call,
  given: { readonly execution_id?: string | undefined; readonly container_id?: string | undefined },
): Promise<CallToolResult> {
  const ids =
    given.execution_id !== undefined
      ? [(await jobOf(call, given.execution_id, 'run')).id]
      : given.container_id !== undefined
        ? runningIn(await containerOf(call, given.container_id, 'run'))
        : null
  if (ids === null) throw new ServiceError('invalid_request', 'The call does not name what to stop. Give execution_id or container_id.')
  const interrupted = []
  for (const id of ids) {
    const row = await cancelExecution(call.deps, { tenant: call.caller.tenant, id })
    if (row !== null) interrupted.push({ id, status: hasEnded(row.status) ? row.status : 'cancelling' })
  }
  const sentence = interrupted.length === 0 ? 'Nothing runs.' : interrupted.map(({ id, status }) => `${id}: ${status}`).join('\n')
  return answer([text(sentence)], { interrupted })
}
