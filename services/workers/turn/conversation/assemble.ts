import type { ModelContentPart, ModelToolCall } from '../../../model/responses/model-content.ts'
import type { ModelMessage } from '../../../ports/chat-model.ts'
import type { Entry } from '../../../model/responses/items/entry.ts'

type ResultEntry = Extract<Entry, { readonly kind: 'result' }>
const IMAGES_FOLLOW = '[Not from the user: the images that the code above showed or wrote, in order. The user sees them too.]'

/**
 * Builds messages in the order that Chat Completions requires: calls belong to one assistant message, and exactly one result follows every call. A call
 * without a result gets a note instead; a result without a call is omitted. Images of results follow in a user message: results are text only.
 */
export function assemble(entries: readonly Entry[]): ModelMessage[] {
  const found = new Map<string, ResultEntry[]>()
  for (const entry of entries) {
    if (entry.kind !== 'result') continue
    const known = found.get(entry.callId)
    if (known === undefined) found.set(entry.callId, [entry])
    else known.push(entry)
  }
  const results = new Map([...found].map(([callId, list]) => [callId, list.values()]))

  const messages: ModelMessage[] = []
  let open: { text: string; calls: ModelToolCall[] } | null = null
  const close = (): void => {
    if (open === null) return
    messages.push({ role: 'assistant', content: open.text, toolCalls: open.calls })
    const images: ModelContentPart[] = []
    for (const call of open.calls) {
      const result = results.get(call.id)?.next().value
      messages.push({ role: 'tool', toolCallId: call.id, content: result?.text ?? '(no result was given)' })
      for (const { url } of result?.images ?? []) if (url !== null) images.push({ type: 'image', url })
    }
    if (images.length > 0) messages.push({ role: 'user', content: [{ type: 'text', text: IMAGES_FOLLOW }, ...images] })
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
