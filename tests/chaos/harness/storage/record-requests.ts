import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { fromAttributes, type Attributes } from '../../../../services/adapters/storage/dynamodb/attribute-values.ts'
import type { History } from '../../history.ts'
import { recordItem } from './record-item.ts'

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
export function recordRequests(server: Server, history: History): Server {
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
  recordItem(history, { pk, sk: String(key['sk']) }, fromAttributes(written))
}
