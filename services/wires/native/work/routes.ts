import type { Scope } from '../../../model/tenants/tenant.ts'
import type * as z from 'zod'
import { ServiceError } from '../../../model/errors.ts'
import { hasEnded, type Execution as ExecutionRow } from '../../../model/executions/execution.ts'
import type { WorkKindName } from '../../../model/executions/work-kinds.ts'
import { workRowOf } from '../../../operations/access.ts'
import { cancelExecution } from '../../../operations/executions/cancel-execution.ts'
import { waitForExecution, type RunCodeResult } from '../../../operations/executions/run-code.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, runContext, type AnyRoute, type Call } from '../../../http/route.ts'
import { EVENT_STREAM, streamEvents } from './event-stream.ts'
import { addressOf, renderPending, renderWork, type Fields, type RenderFields, type RenderOptions } from './render-work.ts'

interface WaitQuery {
  readonly wait?: number | undefined
  readonly inline?: 'all' | undefined
}

/** How the native wire shows one kind of work. */
export interface WorkWire {
  readonly kind: WorkKindName
  /** With its article, for summaries. */
  readonly noun: string
  readonly schema: () => z.ZodType
  readonly query: () => z.ZodType<WaitQuery>
  readonly fields: RenderFields
  /** How a cancellation ends it. */
  readonly cancelling: string
  /** The types of its events. */
  readonly events: string
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** The row that the path names. Throws ServiceError. */
export const rowOf = (call: Call, { kind }: WorkWire, scope: Scope): Promise<ExecutionRow> =>
  workRowOf(call, { kind, id: call.param(`${kind}_id`) }, scope)

export const renderFor = (
  call: Call,
  row: ExecutionRow,
  { wire: { fields }, ...options }: Omit<RenderOptions, 'publicUrl' | 'caller'> & { readonly wire: WorkWire },
): Promise<Fields> => renderWork(call.deps, row, { fields, publicUrl: call.publicUrl, caller: call.caller, ...options })

/** The answer of a route that ran something: 201 at its end, 202 with its address before. */
export async function answerRun(call: Call<WaitQuery>, wire: WorkWire, { execution, queue, isReplay }: RunCodeResult): Promise<Response> {
  const options = { known: { ...(queue && { queue }) }, isWhole: call.query.inline === 'all' }
  const headers: Record<string, string> = isReplay ? { 'idempotent-replayed': 'true' } : {}
  const location = addressOf(execution, call.publicUrl)
  try {
    const answer = await renderFor(call, execution, { wire, ...options })
    return hasEnded(execution.status) ? json(201, answer, headers) : json(202, answer, { ...headers, location })
  } catch (error) {
    // A client would repeat a refused call, but this work has run.
    if (!(error instanceof ServiceError) || error.code !== 'too_many_results') throw error
    const { publicUrl, caller } = call
    const pending = await renderPending(call.deps, execution, { fields: wire.fields, publicUrl, caller, ...options })
    return json(202, pending, { ...headers, location, 'retry-after': '1' })
  }
}

/** The answers of a route that runs something. */
export const runAnswers = ({ kind, schema }: WorkWire, failing: string) => ({
  201: { description: `The ${kind} ended within \`wait\`. ${failing} is a result, not an error.`, schema },
  202: {
    description: `The ${kind} is still running; read it again at \`Location\`.`,
    schema,
    headers: { Location: 'The address of the object.' },
  },
})

/** The routes that every kind of work has: get, cancel, follow. */
export function workRoutes(wire: WorkWire): readonly AnyRoute[] {
  const { kind, noun, schema } = wire
  const [path, name] = [`/v1/${kind}s/{${kind}_id}`, capitalized(kind)]
  const missing = `${kind}_not_found` as const
  const get = defineRoute({
    method: 'get',
    path,
    auth: 'session',
    scope: 'read',
    operationId: `get${name}`,
    tag: `${name}s`,
    summary: `Get ${noun}`,
    description: `With \`wait\` the answer comes when the ${kind} ends, or after that many seconds with the state at that time.`,
    query: wire.query,
    answers: { 200: { description: `The ${kind}.`, schema } },
    errors: [missing, 'too_many_results'],
    async handle(call) {
      const { wait = 0, inline } = call.query
      const read = (): Promise<ExecutionRow> => rowOf(call, wire, 'read')
      const row =
        wait === 0 ? await read() : await waitForExecution(runContext(call), call.param(`${kind}_id`), { read, waitMs: wait * 1000 })
      return json(200, await renderFor(call, row, { wire, isWhole: inline === 'all' }))
    },
  })
  const cancel = defineRoute({
    method: 'post',
    path: `${path}/cancel`,
    auth: 'session',
    scope: 'run',
    operationId: `cancel${name}`,
    tag: `${name}s`,
    summary: `Cancel ${noun}`,
    description: `${wire.cancelling} Idempotent: if it has ended, the answer has its final state.`,
    answers: { 200: { description: `The ${kind} as it is now; its end may follow.`, schema } },
    errors: [missing, 'too_many_results'],
    async handle(call) {
      const found = await rowOf(call, wire, 'run')
      const row = (await cancelExecution(call.deps, found)) ?? found
      return json(200, await renderFor(call, row, { wire }))
    },
  })
  const follow = defineRoute({
    method: 'get',
    path: `${path}/events`,
    auth: 'session',
    scope: 'read',
    operationId: `stream${name}Events`,
    tag: `${name}s`,
    summary: `Follow ${noun}`,
    description: `Server-sent events, numbered from 0 without a gap: ${wire.events}, and \`done\` last. Resume with \`after\` or \`Last-Event-ID\`.`,
    ...EVENT_STREAM,
    errors: [missing, 'too_many_streams'],
    handle: (call) => streamEvents(call, () => rowOf(call, wire, 'read')),
  })
  return [get, cancel, follow]
}
