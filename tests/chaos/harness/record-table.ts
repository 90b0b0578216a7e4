import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Container } from '../../../services/core/containers/container.ts'
import { hasEnded, type Execution } from '../../../services/core/executions/execution.ts'
import type { Sandbox } from '../../../services/core/sandboxes/sandbox.ts'
import { fromAttributes, type Attributes } from '../../../services/storage/dynamodb/attribute-values.ts'
import { containerCodec, executionCodec, sandboxCodec } from '../../../services/storage/rows/row-shapes.ts'
import type { History } from '../history.ts'

interface Request {
  readonly Item?: Attributes
  readonly Key?: Attributes
}
interface Answer {
  readonly Attributes?: Attributes
  readonly message?: string
}

/**
 * Records every write that the table accepted or refused, in the table's order, including writes whose reply the caller never received.
 * It runs inside the emulator's server: the response ends at the moment at which the write is done.
 */
export function recordTable(server: Server, history: History): Server {
  const handlers = server.listeners('request') as RequestListener[]
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const action = String(request.headers['x-amz-target']).split('.').at(-1)
    if (action === 'PutItem' || action === 'UpdateItem' || action === 'DeleteItem') {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse
      response.end = ((...args: unknown[]) => {
        record(history, JSON.parse(Buffer.concat(parts).toString()) as Request, JSON.parse(String(args[0])) as Answer, response.statusCode)
        return end(...args)
      }) as typeof response.end
    }
    for (const handle of handlers) handle(request, response)
  })
  return server
}

function record(history: History, request: Request, answer: Answer, status: number): void {
  const key = fromAttributes(request.Key ?? { pk: request.Item?.['pk'] ?? { S: '' }, sk: request.Item?.['sk'] ?? { S: '' } })
  const pk = String(key['pk'])
  if (status !== 200) {
    if (answer.message?.includes('conditional request failed') === true) history.add({ type: 'refused', key: pk })
    return
  }
  const written = request.Item ?? answer.Attributes
  if (written === undefined) return history.add({ type: 'removed', key: pk })
  const item = fromAttributes(written)
  const kind = pk.split('#')[2]
  if (kind === 'execution' && key['sk'] === 'row') addExecution(history, executionCodec.decode(item))
  else if (kind === 'execution') addBatch(history, pk, item)
  else if (kind === 'container' && key['sk'] === 'row') addContainer(history, containerCodec.decode(item))
  else if (kind === 'sandbox') addSandbox(history, sandboxCodec.decode(item))
}

function addExecution(history: History, row: Execution): void {
  const { tenant, id, containerId, status, reason, fence, sandboxId, endedAt } = row
  const result = hasEnded(status) ? (row.result?.stdout ?? row.resultRef?.objectKey ?? null) : null
  const facts = { tenant, id, containerId, status, reason, fence, sandboxId, endedAt }
  history.add({ type: 'row', row: facts, owner: row.lease?.owner ?? null, result })
}

function addBatch(history: History, pk: string, item: Record<string, unknown>): void {
  const [, tenant = '', , execution = ''] = pk.split('#')
  const events = typeof item['events'] === 'string' ? (JSON.parse(item['events']) as unknown[]).length : 0
  history.add({ type: 'batch', tenant, execution, firstSeq: Number(item['firstSeq']), events, fence: Number(item['fence']) })
}

function addContainer(history: History, { tenant, id, queue, sandboxId, generation, deletedAt }: Container): void {
  history.add({ type: 'container', row: { tenant, id, queue, sandboxId, generation, deletedAt } })
}

function addSandbox(history: History, { id, state, claimedBy }: Sandbox): void {
  history.add({ type: 'sandbox', row: { id, state, claimedBy } })
}
