import { ProtocolError, ProtocolErrorCode, type CallToolResult, type McpServer } from '@modelcontextprotocol/server'
import { ServiceError } from '../../model/errors.ts'
import { missingKeyError } from '../../http/authenticate.ts'
import type { Call } from '../../http/route.ts'

type Content = CallToolResult['content']

/** Tools by name. Each one is registered for the caller of one request. */
export type Tools = Readonly<Record<string, (server: McpServer, call: Call) => void>>

/** A result with its text for models and its fields for programs. */
export const answer = (content: Content, structuredContent: Record<string, unknown>, isError = false): CallToolResult => ({
  content,
  structuredContent,
  ...(isError ? { isError } : {}),
})

export const text = (value: string): Content[number] => ({ type: 'text', text: value })

/** The address of a container's file as a resource. */
export const fileUri = (containerId: string, path: string): string =>
  `cellblock://containers/${containerId}/files/${path.split('/').map(encodeURIComponent).join('/')}`

/** Runs a method that is no tool. A key without the scope gets the sentence of the refusal as an error of the protocol. */
export async function guardedMethod<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isScopeError(error)) throw error
    throw new ProtocolError(ProtocolErrorCode.InvalidRequest, error.message, { code: error.code })
  }
}

export const isScopeError = (error: unknown): error is ServiceError => error instanceof ServiceError && error.code === 'insufficient_scope'

/**
 * Runs a tool. A refusal is a result with `isError`, so that the model reads the sentence and corrects the call. For any other failure the client
 * receives only the request's id, because the SDK would send the message of the error.
 */
export async function guarded(call: Call, tool: string, work: () => Promise<CallToolResult>): Promise<CallToolResult> {
  call.note('tool', tool)
  try {
    // Only a server with the fixtures of the conformance suite accepts a request without a key.
    if (call.caller.keyId === '') throw missingKeyError()
    return await work()
  } catch (error) {
    if (error instanceof ServiceError) {
      call.note('code', error.code)
      return answer([text(error.message)], { error: { code: error.code, message: error.message, param: error.param } }, true)
    }
    call.note('code', 'internal_error')
    call.note('error', error instanceof Error ? error.name : 'unknown')
    return { content: [text(`Internal error. Retry; if it persists, report request ${call.requestId}.`)], isError: true }
  }
}
