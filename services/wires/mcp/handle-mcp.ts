import * as z from 'zod'
import {
  createMcpHandler,
  INTERNAL_ERROR,
  isJSONRPCRequest,
  isLegacyRequest,
  PARSE_ERROR,
  PerRequestHTTPServerTransport,
  SUPPORTED_PROTOCOL_VERSIONS,
  type JSONRPCRequest,
  isJsonContentType,
} from '@modelcontextprotocol/server'
import { ServiceError } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import { RUN_ANSWER_BYTES } from '../../operations/executions/result-budget.ts'
import { keepAliveJson } from '../../http/keep-alive-json.ts'
import { json } from '../../http/responses.ts'
import { within, type Hold } from '../../operations/tenancy/hold.ts'
import { createServer, type McpCall } from './create-server.ts'
import { MESSAGE } from '../../model/scan-json.ts'
import { parseJson } from '../../http/parse-json.ts'
import { readBody } from '../../http/read-body.ts'
import { safeParse } from '../../model/safe-parse.ts'

/** One request at the SDK. */
interface Exchange {
  readonly response: Promise<Response>
  /** Ends a response that is a stream. */
  readonly close: () => Promise<void>
}

/** Serves one request; the SDK selects the revision. */
export async function handleMcp(call: McpCall): Promise<Response> {
  const { holds, config } = call.deps
  const message = await readMcpMessage(call.request).catch(parseError)
  if (message instanceof Response) return message
  const toolCall = toolCallOf(message)
  // A tool may run code; a client would repeat a call that is refused for its result.
  if (toolCall !== null) call.deps.results.reserve(RUN_ANSWER_BYTES)
  const hold = await holds.take(call.caller.tenant, 'stream')
  const response = exchange({ ...call, deps: { ...call.deps, holds: within(hold) } }, message, { tool: toolCall?.tool ?? null, hold })
  // Without progress a tool sends nothing before its result, and a proxy would close the connection.
  if (toolCall === null || toolCall.hasProgress) return response
  return keepAliveJson(response, { intervalMs: config.heartbeatMs, onError: () => internalError(message) })
}

/** The protocol's answer to a body that is not JSON. */
function parseError(error: unknown): Response {
  if (!(error instanceof ServiceError) || error.code !== 'invalid_json') throw error
  return json(400, { jsonrpc: '2.0', id: null, error: { code: PARSE_ERROR, message: error.message } })
}

async function exchange(
  call: McpCall,
  message: unknown,
  { tool, hold }: { readonly tool: string | null; readonly hold: Hold },
): Promise<Response> {
  try {
    const older = tool === null ? null : await olderRequest(call.request, message)
    const { response, close } = older === null ? serve(call, message, tool) : await serveOlder(call, older, tool)
    const answer = await response
    if (answer.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
      await hold.release()
      return answer
    }
    const limit = setTimeout(() => void close(), call.deps.config.maxHoldSeconds * 1000)
    hold.signal?.addEventListener('abort', () => void close(), { once: true })
    return await whenClosed(answer, () => {
      clearTimeout(limit)
      return hold.release()
    })
  } catch (error) {
    await hold.release()
    throw error
  }
}

function serve(call: McpCall, message: unknown, tool: string | null): Exchange {
  const handler = createMcpHandler(() => createServer(call, tool), {
    maxRequestBodySize: LIMITS.maxJsonBytes,
    maxSubscriptions: 1,
    keepAliveMs: call.deps.config.heartbeatMs,
  })
  return { response: handler.fetch(call.request, { parsedBody: message }), close: handler.close }
}

/** The message as a valid request of a revision before 2026-07-28; null for any other, which the SDK's handler serves or refuses. */
async function olderRequest(request: Request, message: unknown): Promise<JSONRPCRequest | null> {
  const accepted = request.headers.get('accept') ?? ''
  const revision = request.headers.get('mcp-protocol-version')
  const isValid =
    isJSONRPCRequest(message) &&
    accepted.includes('application/json') &&
    accepted.includes('text/event-stream') &&
    (revision === null || SUPPORTED_PROTOCOL_VERSIONS.includes(revision))
  return isValid && (await isLegacyRequest(request, message)) ? message : null
}

/** Answers with JSON, unless the tool sends notifications first. The SDK's handler answers every request of these revisions with events. */
async function serveOlder(call: McpCall, message: JSONRPCRequest, tool: string | null): Promise<Exchange> {
  const transport = new PerRequestHTTPServerTransport({
    classification: { era: 'legacy' },
    keepAliveMs: call.deps.config.heartbeatMs,
  })
  await createServer(call, tool).connect(transport)
  const { request } = call
  const response = transport.handleMessage(message, { request }).catch((error: unknown) => {
    if (request.signal.aborted) return new Response(null, { status: 499 })
    throw error
  })
  return { response, close: () => transport.close() }
}

const internalError = (message: unknown): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: isJSONRPCRequest(message) ? message.id : null,
    error: { code: INTERNAL_ERROR, message: 'Internal error. Retry; if it persists, ask the operator of this server.' },
  })

/** The same response; `close` runs once when its body has ended or failed, or its reader has disconnected. */
async function whenClosed(response: Response, close: () => Promise<void>): Promise<Response> {
  const reader = response.body?.getReader()
  if (reader === undefined) {
    await close()
    return response
  }
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await reader.read().catch(async (error: unknown) => {
          await close()
          throw error
        })
        if (!next.done) return controller.enqueue(next.value)
        await close()
        return controller.close()
      },
      async cancel(reason) {
        await close()
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { status: response.status, headers: response.headers })
}

/**
 * The JSON of a request; undefined for another media type, which the SDK refuses. The SDK would copy the request and read both copies as streams,
 * which takes longer than the rest of its work; and it checks a message at about 3 µs per value, so the values are counted first. Throws ServiceError.
 */
async function readMcpMessage(request: Request): Promise<unknown> {
  if (!isJsonContentType(request.headers.get('content-type'))) return undefined
  return parseJson(await readBody(request, LIMITS.maxJsonBytes), MESSAGE)
}

const ToolCall = z.object({
  method: z.literal('tools/call'),
  params: z.object({
    name: z.string(),
    _meta: z.object({ progressToken: z.unknown().optional() }).optional(),
  }),
})

/** What a message that calls a tool means for its answer. */
interface ToolCall {
  readonly tool: string
  /** Whether the client asked for notifications before the result. */
  readonly hasProgress: boolean
}

/** Null for any other message. The SDK checks the message in full. */
function toolCallOf(message: unknown): ToolCall | null {
  const { success, data } = safeParse(ToolCall, message)
  if (!success) return null
  const { name, _meta } = data.params
  return { tool: name, hasProgress: _meta?.progressToken !== undefined }
}
