import { McpServer, type ServerOptions } from '@modelcontextprotocol/server'
import type { Call } from '../../http/route.ts'
import type { Tools } from './answers.ts'
import { EXECUTION_TOOLS } from './execution-tools.ts'
import { FILE_TOOLS } from './file-tools.ts'
import { registerResources } from './resources.ts'
import { registerSkills } from './skills.ts'
import { registerTasks, TASKS_EXTENSION } from './tasks.ts'

/** What MCP's conformance suite needs on the handler that it tests. */
export interface McpFixtures {
  readonly options: Pick<ServerOptions, 'requestState' | 'capabilities'>
  readonly register: (server: McpServer) => void
}

/** A call of this wire. With fixtures it also serves them. */
export interface McpCall extends Call {
  readonly fixtures: McpFixtures | undefined
}

const INSTRUCTIONS =
  'Cellblock runs Python in isolated containers without a network. Call execute_code; pass the container_id of its result to keep variables and files. Files are in /mnt/data.'

/** Lists and templates are the same for every caller, milliseconds. */
const LIST_HINT = { ttlMs: 300_000, cacheScope: 'public' } as const

const TOOLS: Tools = { ...EXECUTION_TOOLS, ...FILE_TOOLS }

/**
 * The server of one request, because the SDK's servers hold the state of one exchange. The server for a call of a tool has that tool and nothing else:
 * a call reaches nothing else, and each registration takes time.
 */
export function createServer(call: McpCall, calledTool: string | null): McpServer {
  const { fixtures } = call
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
  if (calledTool === null) registerEverything(server, call)
  else if (Object.hasOwn(TOOLS, calledTool)) TOOLS[calledTool]?.(server, call)
  fixtures?.register(server)
  return server
}

function registerEverything(server: McpServer, call: Call): void {
  for (const register of Object.values(TOOLS)) register(server, call)
  registerResources(server, call)
  registerSkills(server, call)
  registerTasks(server, call)
}
