import * as z from 'zod'
import { ServiceError } from '../../../model/errors.ts'
import { loadResult } from '../../../operations/executions/load-result.ts'
import { REF_MIME } from '../../../model/executions/outputs.ts'
import { readShare } from '../../../operations/executions/execution-slots.ts'
import { LIMITS } from '../../../model/limits.ts'
import { containerOf, visibleTo } from '../../../operations/access.ts'
import { checkTimeout } from '../../../operations/tenancy/check-limits.ts'
import { RECENT_CONTAINERS, recentExecutions } from '../../../operations/executions/recent-executions.ts'
import { runCode } from '../../../operations/executions/run-code.ts'
import { scopeOf } from '../../../http/execution-scope.ts'
import { checkSource } from '../../../operations/executions/source.ts'
import { storedBytes } from '../../../operations/executions/stored-bytes.ts'
import { claimId } from '../../../http/claim-id.ts'
import { collectPage } from '../../../http/paging.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, runContext, type AnyRoute } from '../../../http/route.ts'
import { DEFAULT_PAGE, listOf, StrictListQuery, listSchema, pageOf } from '../../../http/schemas.ts'
import { Execution, RunCode, WaitQuery } from './schema.ts'
import { filenameOf } from '../work/outputs.ts'
import { answerRun, renderFor, rowOf, runAnswers, workRoutes, type WorkWire } from '../work/routes.ts'
import { textOfPart } from './inline-outputs.ts'
import { executionFields } from './serialize.ts'
import { ExecutionSummaries, RecentQuery, renderSummaries } from './summary.ts'

const EXECUTIONS: WorkWire = {
  kind: 'execution',
  noun: 'an execution',
  schema: Execution,
  query: WaitQuery,
  fields: executionFields,
  cancelling: 'Interrupts the code and kills it two seconds later.',
  events: '`status`, `stdout`, `stderr`, `output`, `clear`, `file`, `lost`',
}

const runCodeRoute = defineRoute({
  method: 'post',
  path: '/v1/containers/{container_id}/executions',
  auth: 'session',
  scope: 'run',
  operationId: 'runCode',
  tag: 'Executions',
  summary: 'Run code or a notebook',
  description:
    'Executions of one container run one after another. With an `Idempotency-Key` header the same call can be repeated and runs once.',
  creates: 'execution',
  query: WaitQuery,
  body: RunCode,
  answers: runAnswers(EXECUTIONS, 'Failing code'),
  errors: [
    'container_not_found',
    'invalid_notebook',
    'unsupported_value',
    'limit_exceeded',
    'too_many_queued',
    'concurrency_limit_reached',
    'sandbox_seconds_exhausted',
    'dollars_exhausted',
  ],
  async handle(call) {
    const { deps, caller, body, rawBody } = call
    const source = checkSource(body)
    if (source.kind === 'notebook' && body.language && body.language !== 'python')
      throw new ServiceError('unsupported_value', 'A notebook runs as Python. Send code for another language.', { param: 'language' })
    const scope = scopeOf(body)
    const containerId = call.param('container_id')
    const timeoutSeconds = await checkTimeout(deps, caller.tenant, body.timeout_seconds)
    // A call to a missing container must not claim a key.
    if (call.request.headers.has('idempotency-key')) await containerOf(call, containerId, 'run')
    const result = await runCode(runContext(call), {
      containerId,
      source,
      ...(scope !== undefined && { scope }),
      ...(body.language && { language: body.language }),
      timeoutSeconds,
      onError: body.on_error ?? 'stop',
      storeHistory: body.store_history ?? true,
      metadata: body.metadata ?? {},
      claimed: await claimId(call, 'execution', { body: rawBody }),
      waitMs: (call.query.wait ?? LIMITS.defaultWaitSeconds) * 1000,
    })
    return answerRun(call, EXECUTIONS, result)
  },
})

/** Maximum size of the results on one page, bytes; a page beyond it ends early. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024

const listExecutionsRoute = defineRoute({
  method: 'get',
  path: '/v1/containers/{container_id}/executions',
  auth: 'session',
  scope: 'read',
  operationId: 'listExecutions',
  tag: 'Executions',
  summary: 'List the executions of a container',
  description: 'A page with big results has fewer executions than `limit`; `has_more` says whether there are others.',
  query: StrictListQuery,
  answers: { 200: { description: 'A page of executions.', schema: listSchema(Execution, 'ExecutionList') } },
  errors: ['container_not_found'],
  async handle(call) {
    const { deps, caller } = call
    const container = await containerOf(call, call.param('container_id'), 'read')
    const page = await collectPage(
      pageOf(call.query),
      (request) => deps.table.executions.listByContainer(caller.tenant, container.id, request),
      visibleTo(caller, 'read'),
    )
    let left = MAX_PAGE_BYTES
    const tooMuch = page.rows.findIndex((row, index) => (left -= storedBytes(row)) < 0 && index > 0)
    const rows = tooMuch === -1 ? page.rows : page.rows.slice(0, tooMuch)
    const known = { queue: container.queue, share: await readShare(deps.table.sharedRows, caller.tenant) }
    const budget = { bytes: LIMITS.inlineAnswerBytes }
    const data = []
    for (const row of rows) data.push(await renderFor(call, row, { wire: EXECUTIONS, known, budget }))
    return json(200, listOf(data, page.hasMore || rows.length < page.rows.length))
  },
})

const recentExecutionsRoute = defineRoute({
  method: 'get',
  path: '/v1/executions',
  auth: 'session',
  scope: 'read',
  operationId: 'listRecentExecutions',
  tag: 'Executions',
  summary: 'List the newest executions',
  description: `Of the newest ${RECENT_CONTAINERS} containers, without code and results. A key that is bound to an end user sees that user's only.`,
  query: RecentQuery,
  answers: { 200: { description: 'The executions, the newest first.', schema: ExecutionSummaries } },
  async handle({ deps, caller, query }) {
    const isVisible = visibleTo(caller, 'read')
    const found = await recentExecutions(deps.table, caller.tenant, { limit: query.limit ?? DEFAULT_PAGE, isVisible })
    return json(200, renderSummaries(found))
  },
})

const executionOutputRoute = defineRoute({
  method: 'get',
  path: '/v1/executions/{execution_id}/outputs/{cell}/{output}',
  auth: 'session',
  scope: 'read',
  operationId: 'getExecutionOutput',
  tag: 'Executions',
  summary: 'Download a part of an output',
  description: 'The address that `cellblock/ref` has for a part that an answer does not embed. Positions count from 0.',
  query: () => z.strictObject({ type: z.string().min(1).max(255).openapi({ description: 'MIME type of the part.' }) }),
  answers: { 200: { description: 'The bytes, as a download.', contentType: 'application/octet-stream', schema: () => z.string() } },
  errors: ['execution_not_found', 'output_not_found', 'too_many_results'],
  async handle(call) {
    const { deps, query } = call
    const row = await rowOf(call, EXECUTIONS, 'read')
    return deps.results.hold(storedBytes(row), async () => {
      const output = (await loadResult(deps.objects, row))?.cells
        .at(positionOf(call.param('cell')))
        ?.outputs.at(positionOf(call.param('output')))
      const data =
        output !== undefined && 'data' in output && query.type !== REF_MIME && Object.hasOwn(output.data, query.type)
          ? output.data[query.type]
          : undefined
      if (data === undefined)
        throw new ServiceError(
          'output_not_found',
          'The execution has no such output. GET /v1/executions/{execution_id} lists the URLs of its outputs.',
        )
      const text = textOfPart(data)
      const bytes = isBase64(query.type) ? Buffer.from(text, 'base64') : Buffer.from(text)
      return new Response(bytes, {
        headers: { 'content-type': 'application/octet-stream', 'content-disposition': `attachment; filename="${filenameOf(query.type)}"` },
      })
    })
  },
})

/** A position that is not a number finds nothing. */
const positionOf = (text: string): number => (/^\d{1,6}$/.test(text) ? Number(text) : Infinity)
/** nbformat encodes binary types in base64. */
const isBase64 = (mime: string): boolean => /^(?:image\/(?!svg\+xml)|audio\/|video\/|application\/(?:pdf|octet-stream|zip))/.test(mime)

export const executionRoutes: readonly AnyRoute[] = [
  runCodeRoute,
  listExecutionsRoute,
  recentExecutionsRoute,
  executionOutputRoute,
  ...workRoutes(EXECUTIONS),
]
