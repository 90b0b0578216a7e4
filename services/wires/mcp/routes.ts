import * as z from 'zod'
import { openObject } from '../../model/bounded-schemas.ts'
import { answerSchema, lazySchema } from '../../model/lazy-schema.ts'
import type { Caller } from '../../model/tenants/tenant.ts'
import { defineRoute, type AnyRoute, type WireAuth, type WireDescription } from '../../http/route.ts'
import { ErrorBody } from '../../http/schemas.ts'
import type { McpFixtures } from './create-server.ts'

export const mcpWire: WireDescription = {
  name: 'MCP',
  description: 'Model Context Protocol: tools and resources for agents.',
  hint: (url) => `${url}/mcp, Streamable HTTP, with the same key`,
}

const JsonRpcRequest = lazySchema(() =>
  openObject({ jsonrpc: z.literal('2.0'), id: z.union([z.string(), z.int()]).optional(), method: z.string() }).openapi('McpRequest'),
)

/** Errors of the protocol are JSON-RPC's; errors of the checks before it have Cellblock's envelope. */
const McpError = answerSchema(() =>
  z
    .union([ErrorBody(), z.looseObject({ jsonrpc: z.literal('2.0'), error: z.looseObject({ code: z.int(), message: z.string() }) })])
    .openapi('McpError'),
)

const NO_KEY: Caller = { tenant: '', subject: null, keyId: '', scopes: ['run'] }

/** The conformance suite sends no key: a call without one may use the fixtures. The tools of the product still refuse it. */
const fixtureAuth: WireAuth = {
  authenticate: async (request, _deps, byKey) => (request.headers.has('authorization') ? byKey(request) : NO_KEY),
}

/** `fixtures`: in tests, what the conformance suite calls. */
export function createMcpRoute(fixtures?: McpFixtures): AnyRoute {
  return defineRoute({
    method: 'post',
    path: '/mcp',
    auth: fixtures === undefined ? 'key' : fixtureAuth,
    scope: 'run',
    operationId: 'mcp',
    tag: 'MCP',
    summary: 'Model Context Protocol',
    description:
      'Streamable HTTP, revision 2026-07-28, and the revisions before it without sessions. Tools: execute_code, run_command, get_execution, interrupt, create_container, list_files, read_file, write_file.',
    streamed: { contentType: 'application/json', schema: JsonRpcRequest, description: 'One JSON-RPC request or notification.' },
    answers: {
      200: {
        description: 'A JSON-RPC response, or events that end with it.',
        schema: () => z.looseObject({}),
        events: () => z.looseObject({}),
      },
      202: { description: 'A notification was accepted.' },
      404: { description: 'The session or the method is unknown.', schema: McpError },
      406: { description: 'The client accepts neither JSON nor events.', schema: McpError },
    },
    errorBody: McpError,
    errors: ['too_many_streams'],
    async handle(call) {
      // The SDK is loaded when it is first used, so that it does not delay the start of a function.
      const { handleMcp } = await import('./handle-mcp.ts')
      return handleMcp({ ...call, fixtures })
    },
  })
}

export const mcpRoutes: readonly AnyRoute[] = [createMcpRoute()]
