import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { LIMITS } from '../../../core/limits.ts'
import type { Call } from '../../http/route.ts'
import { registerExecutionTools } from './execution-tools.ts'
import { registerFileTools } from './file-tools.ts'
import { registerResources } from './resources.ts'
import { registerSkills } from './skills.ts'
import { registerTasks, TASKS_EXTENSION } from './tasks.ts'

const INSTRUCTIONS =
  'Cellblock runs Python in isolated containers without a network. Call execute_code; pass the container_id of its result to keep variables and files. Files are in /mnt/data.'

/** Lists and templates are the same for every caller, milliseconds. */
const LIST_HINT = { ttlMs: 300_000, cacheScope: 'public' } as const

function createServer(call: Call): McpServer {
  const fixtures = call.deps.mcpFixtures
  const server = new McpServer(
    { name: 'cellblock', title: 'Cellblock', version: '1' },
    {
      instructions: INSTRUCTIONS,
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false },
        extensions: { [TASKS_EXTENSION]: {} },
        ...fixtures?.options.capabilities,
      },
      ...(fixtures?.options.requestState && { requestState: fixtures.options.requestState }),
      cacheHints: { 'tools/list': LIST_HINT, 'resources/templates/list': LIST_HINT, 'server/discover': LIST_HINT },
    },
  )
  registerExecutionTools(server, call)
  registerFileTools(server, call)
  registerResources(server, call)
  registerSkills(server, call)
  registerTasks(server, call)
  fixtures?.register(server)
  return server
}

/** Serves one request; the SDK selects the revision. */
export async function handleMcp(call: Call): Promise<Response> {
  const release = call.deps.streams.take(call.caller.tenant, (await call.deps.limits.of(call.caller.tenant)).openStreams)
  const handler = createMcpHandler(() => createServer(call), {
    maxRequestBodySize: LIMITS.maxJsonBytes,
    maxSubscriptions: 1,
    keepAliveMs: call.deps.config.heartbeatMs,
  })
  try {
    const response = await handler.fetch(call.request)
    if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
      release()
      return response
    }
    const limit = setTimeout(() => void handler.close(), call.deps.config.maxHoldSeconds * 1000)
    return whenClosed(response, () => {
      clearTimeout(limit)
      release()
    })
  } catch (error) {
    release()
    throw error
  }
}

/** The same response; `close` runs once when its body has ended or failed, or its reader has disconnected. */
function whenClosed(response: Response, close: () => void): Response {
  const reader = response.body?.getReader()
  if (reader === undefined) {
    close()
    return response
  }
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await reader.read().catch((error: unknown) => {
          close()
          throw error
        })
        if (!next.done) return controller.enqueue(next.value)
        close()
        return controller.close()
      },
      async cancel(reason) {
        close()
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { status: response.status, headers: response.headers })
}
