import type { ServerTool, ToolResult } from '../../ports/tool.ts'
import { trimText } from '../../model/trim-text.ts'
import type { TurnDeps } from './deps.ts'
import type { ResponseRecord } from '../../model/responses/response.ts'
import { argumentChecker } from '../../model/tools/check-arguments.ts'
import { isOfType, offerTools } from './tools/offered-tools.ts'
import type { Turn } from './turn.ts'
import type { TurnChange, TurnView } from './turn-state.ts'
import { isServerCall, serverCallTypeOf, type ResponseItem, type ServerCallItem } from '../../model/responses/items/item-types.ts'

const failed = (text: string): ToolResult => ({ kind: 'text', text: `error: ${text}`, isError: true })

/**
 * A tool of this server answers the call at `index`. Its failure is an answer too. An aborted call changes nothing: the next step
 * calls the tool again with the same call id.
 */
export async function useTool(
  deps: TurnDeps,
  view: TurnView,
  { index, signal, emit }: { readonly index: number; readonly signal: AbortSignal; readonly emit: Turn['emit'] },
): Promise<TurnChange> {
  const { row, state } = view
  const item = toolCallAt(state.items, index)
  const type = serverCallTypeOf(item)
  const name = type.toolName ?? ('name' in item ? item.name : item.type)
  const found = offerTools(row.request, deps.tools ?? [], false).find(name)
  const tool = found?.answeredBy === 'server' ? found : null
  for (const event of type.working(index, item)) emit(event, 'now')
  const startedAt = deps.clock.now()
  // After a restart a server may have fewer tools than the one that offered this one.
  const answer = tool === null ? failed(`the tool ${name} is no longer available`) : await execute(deps, row, { item, tool, signal })
  if (signal.aborted) return {}
  deps.telemetry.emit({
    event: 'tool_call',
    outcome: answer.isError ? 'error' : 'ok',
    tool: name,
    tenant: row.tenant,
    response_id: row.id,
    tool_ms: deps.clock.now() - startedAt,
  })
  const output = trimText(answer.text, tool?.limits.maxResultChars ?? Infinity)
  const ended = type.answer(item, { output, isError: answer.isError, ...(answer.sources === undefined ? {} : { sources: answer.sources }) })
  return {
    state: { consecutiveFailures: answer.isError ? state.consecutiveFailures + 1 : 0 },
    events: type.answered(index, ended).map((payload) => ({ payload, priority: 'soon' as const })),
    finished: [[index, ended]],
  }
}

async function execute(
  deps: TurnDeps,
  { tenant, subject, id: responseId, request }: ResponseRecord,
  { item, tool, signal }: { readonly item: ServerCallItem; readonly tool: ServerTool; readonly signal: AbortSignal },
): Promise<ToolResult> {
  const checked = argumentChecker(tool)(item.arguments)
  if ('why' in checked) return failed(`${checked.why}.`)
  const options = request.tools.find((requested) => isOfType(tool, requested['type'])) ?? {}
  const limited = AbortSignal.any([signal, AbortSignal.timeout(tool.limits.timeoutMs)])
  try {
    const context = { tenant, subject, responseId, callId: item.id, options, signal: limited }
    // A tool that ignores its signal cannot block the turn.
    const result = await Promise.race([tool.execute(checked.args, context), rejectOnAbort(limited)])
    if (typeof result.text !== 'string') throw new Error('The result of the tool has no text. Return { kind: "text", text, isError }.')
    return result
  } catch (cause) {
    if (limited.aborted) return failed(`${tool.name} did not answer within ${tool.limits.timeoutMs} ms`)
    const detail = cause instanceof Error ? cause.message : String(cause)
    deps.telemetry.emit({ event: 'tool', outcome: 'error', tool: tool.name, tenant, response_id: responseId, detail })
    return failed(`${tool.name} failed. Continue without it and say so.`)
  }
}

const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const fail = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
    if (signal.aborted) fail()
    else signal.addEventListener('abort', fail, { once: true })
  })

function toolCallAt(items: readonly ResponseItem[], index: number): ServerCallItem {
  const item = items[index]
  if (!isServerCall(item)) throw new Error(`The item at ${index} is no call of a tool`)
  return item
}
