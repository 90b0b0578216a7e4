import { isJsonContentType } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { LIMITS } from '../../model/limits.ts'
import { MESSAGE } from '../../model/scan-json.ts'
import { parseJson } from '../../http/parse-json.ts'
import { readBody } from '../../http/read-body.ts'

/**
 * The JSON of a request; undefined for another media type, which the SDK refuses. The SDK would copy the request and read both copies as streams,
 * which takes longer than the rest of its work; and it checks a message at about 3 µs per value, so the values are counted first. Throws ServiceError.
 */
export async function readMcpMessage(request: Request): Promise<unknown> {
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
export interface ToolCall {
  readonly tool: string
  /** Whether the client asked for notifications before the result. */
  readonly hasProgress: boolean
}

/** Null for any other message. The SDK checks the message in full. */
export function toolCallOf(message: unknown): ToolCall | null {
  const { success, data } = ToolCall.safeParse(message)
  if (!success) return null
  const { name, _meta } = data.params
  return { tool: name, hasProgress: _meta?.progressToken !== undefined }
}
