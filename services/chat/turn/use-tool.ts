import type { Tool, ToolResult } from '../../core/ports/tool.ts'
import type { FunctionItem } from '../events/item-events.ts'
import { trimText } from '../outcome/trim-text.ts'
import type { Turn } from './turn.ts'

/** Lets a tool of this server answer the call at `index`. Its failure is an answer too, which the model reads. */
export async function useTool(turn: Turn, index: number, tool: Tool, signal: AbortSignal): Promise<void> {
  const item = turn.items[index] as FunctionItem
  const result = await execute(turn, item, tool, signal)
  signal.throwIfAborted()
  const text = result.kind === 'text' ? result.text : 'error: this tool cannot run code'
  const isError = result.kind === 'code' || result.isError
  turn.failingTries = isError ? turn.failingTries + 1 : 0
  turn.finishItem(index, { ...item, output: trimText(text, tool.limits.maxResultChars) })
}

async function execute(turn: Turn, item: FunctionItem, tool: Tool, signal: AbortSignal): Promise<ToolResult> {
  const args = objectOf(item.arguments)
  if (args === null)
    return { kind: 'text', text: 'error: the arguments are not a JSON object. Call the tool again with one.', isError: true }
  const { tenant, subject, id: responseId } = turn.row
  const limited = AbortSignal.any([signal, AbortSignal.timeout(tool.limits.timeoutMs)])
  try {
    return await tool.execute(args, { tenant, subject, responseId, signal: limited })
  } catch (cause) {
    if (!limited.aborted) throw cause
    return { kind: 'text', text: `error: ${tool.name} did not answer within ${tool.limits.timeoutMs} ms`, isError: true }
  }
}

function objectOf(json: string): Readonly<Record<string, unknown>> | null {
  try {
    const value = JSON.parse(json || '{}') as unknown
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : null
  } catch {
    return null
  }
}
