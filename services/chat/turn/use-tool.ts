import type { Tool, ToolResult } from '../../core/ports/tool.ts'
import type { SearchItem } from '../../core/responses/response.ts'
import type { TurnDeps } from '../deps.ts'
import { searchGoesOn, type FunctionItem } from '../../core/responses/item-events.ts'
import { trimText } from '../../core/trim-text.ts'
import { argumentChecker } from '../tools/check-arguments.ts'
import { isOfType, offerTools } from '../tools/offered-tools.ts'
import { WEB_SEARCH } from '../tools/web-search.ts'
import type { Turn } from './turn.ts'

type Answer = Extract<ToolResult, { kind: 'text' }>
const failed = (text: string): Answer => ({ kind: 'text', text: `error: ${text}`, isError: true })

/** Lets a tool of this server answer the call at `index`. Its failure is an answer too, which the model reads. */
export async function useTool(deps: TurnDeps, turn: Turn, index: number, signal: AbortSignal): Promise<void> {
  const item = turn.items[index] as FunctionItem | SearchItem
  const name = item.type === 'web_search_call' ? WEB_SEARCH : item.name
  const tool = offerTools(turn.row.request, deps.tools ?? [], false).find(name)
  if (item.type === 'web_search_call') turn.emit(searchGoesOn(index, item, 'searching'), 'now')
  const startedAt = deps.clock.now()
  // A server that was started anew may have fewer tools than the one that offered it.
  const answer = tool === null ? failed(`there is no tool ${name} here any more`) : await execute(deps, turn, item, tool, signal)
  signal.throwIfAborted()
  deps.telemetry.emit({
    event: 'tool_call',
    outcome: answer.isError ? 'error' : 'ok',
    tool: name,
    tenant: turn.row.tenant,
    response_id: turn.row.id,
    tool_ms: deps.clock.now() - startedAt,
  })
  turn.consecutiveFailures = answer.isError ? turn.consecutiveFailures + 1 : 0
  const output = trimText(answer.text, tool?.limits.maxResultChars ?? Infinity)
  if (item.type === 'function_call')
    return turn.finishItem(index, { ...item, output, ...(answer.sources === undefined ? {} : { sources: answer.sources }) })
  const ended: SearchItem = { ...item, status: answer.isError ? 'failed' : 'completed', output, sources: answer.sources ?? [] }
  if (!answer.isError) turn.emit(searchGoesOn(index, ended, 'completed'), 'soon')
  turn.finishItem(index, ended)
}

async function execute(deps: TurnDeps, turn: Turn, item: FunctionItem | SearchItem, tool: Tool, signal: AbortSignal): Promise<Answer> {
  const checked = argumentChecker(tool)(item.arguments)
  if ('why' in checked) return failed(`${checked.why}.`)
  const { tenant, subject, id: responseId, request } = turn.row
  const options = request.tools.find((wanted) => isOfType(tool, wanted['type'])) ?? {}
  const limited = AbortSignal.any([signal, AbortSignal.timeout(tool.limits.timeoutMs)])
  try {
    const context = { tenant, subject, responseId, callId: item.id, options, signal: limited }
    // A tool that does not listen to its signal is left behind: it cannot hold the turn.
    const result = await Promise.race([tool.execute(checked.args, context), whenAborted(limited)])
    if (result.kind === 'code') return failed('this tool cannot run code')
    if (typeof result.text !== 'string') throw new Error('Its result has no text: give { kind: "text", text, isError }.')
    return result
  } catch (cause) {
    if (limited.aborted) return failed(`${tool.name} did not answer within ${tool.limits.timeoutMs} ms`)
    const detail = cause instanceof Error ? cause.message : String(cause)
    deps.telemetry.emit({ event: 'tool', outcome: 'error', tool: tool.name, tenant, response_id: responseId, detail })
    return failed(`${tool.name} failed. Go on without it and say so.`)
  }
}

const whenAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const fail = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
    if (signal.aborted) fail()
    else signal.addEventListener('abort', fail, { once: true })
  })
