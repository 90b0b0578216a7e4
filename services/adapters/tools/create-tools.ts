import type { ServerTool } from '../../ports/tool.ts'
import type { ToolConfig } from './config.ts'
import { loadTools, refuseDoubles } from './load-tools.ts'
import { CODE_INTERPRETER } from '../../model/responses/items/code-interpreter-call.ts'
import { webSearchTool } from './web-search.ts'

/** The tools of this server besides the interpreter. Throws an Error that says what is wrong with a file. */
export async function createTools({ brave, folder }: ToolConfig): Promise<readonly ServerTool[]> {
  const tools = [...(brave === null ? [] : [webSearchTool(brave)]), ...(folder === null ? [] : await loadTools(folder))]
  refuseDoubles([CODE_INTERPRETER, ...tools])
  return tools
}

/** What a request may name each of these tools by: its type first. */
export const typesOf = (tools: readonly ServerTool[]): readonly (readonly string[])[] =>
  tools.map((tool) => [tool.type, ...(tool.aliases ?? [])])
