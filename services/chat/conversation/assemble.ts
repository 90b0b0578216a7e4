import type { ModelMessage, ModelToolCall } from '../../core/ports/chat-model.ts'
import type { Entry } from './entry.ts'

/**
 * Puts messages together as Chat Completions wants them: calls hang on one assistant message, and every call is followed by exactly one
 * result. A call without a result gets a remark instead, a result without a call is left out.
 */
export function assemble(entries: readonly Entry[]): ModelMessage[] {
  const texts = new Map<string, string[]>()
  for (const entry of entries) {
    if (entry.kind !== 'result') continue
    const known = texts.get(entry.callId)
    if (known === undefined) texts.set(entry.callId, [entry.text])
    else known.push(entry.text)
  }
  const results = new Map([...texts].map(([callId, list]) => [callId, list.values()]))

  const messages: ModelMessage[] = []
  let open: { text: string; calls: ModelToolCall[] } | null = null
  const close = (): void => {
    if (open === null) return
    messages.push({ role: 'assistant', content: open.text, toolCalls: open.calls })
    for (const call of open.calls)
      messages.push({ role: 'tool', toolCallId: call.id, content: results.get(call.id)?.next().value ?? '(no result was given)' })
    open = null
  }
  for (const entry of entries) {
    switch (entry.kind) {
      case 'system':
        close()
        messages.push({ role: 'system', content: entry.text })
        break
      case 'user':
        close()
        messages.push({ role: 'user', content: entry.content })
        break
      case 'said':
        close()
        open = { text: entry.text, calls: [] }
        break
      case 'call':
        open ??= { text: '', calls: [] }
        open.calls.push(entry.call)
        break
      case 'result':
        close()
        break
    }
  }
  close()
  return messages
}
