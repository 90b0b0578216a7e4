import type { ResponseItem } from '../../core/responses/response.ts'
import type { MessageItem } from '../../core/responses/item-events.ts'
import { PYTHON } from '../tools/python.ts'
import { WEB_SEARCH } from '../tools/web-search.ts'
import type { Entry } from './entry.ts'

/**
 * What a response has produced, as entries. Links are turned back into the paths that the model wrote. An item that a crash or a broken
 * stream cut off is left out, unless it is the last thing that the response said.
 */
export function itemEntries(items: readonly ResponseItem[], hasEnded: boolean, pathOf: (fileId: string) => string | null): Entry[] {
  return items.flatMap((item, index): Entry[] => {
    switch (item.type) {
      case 'message': {
        const isKept = item.status === 'completed' || (hasEnded && index === items.length - 1)
        return isKept && item.text !== '' ? [{ kind: 'said', text: withPaths(item, pathOf) }] : []
      }
      case 'code_interpreter_call':
        if (item.outcome === null) return []
        return [
          { kind: 'call', call: { id: item.callId, name: PYTHON, arguments: JSON.stringify({ code: item.code }) } },
          { kind: 'result', callId: item.callId, text: item.outcome.modelText },
        ]
      case 'function_call': {
        if (item.status !== 'completed') return []
        const call: Entry = { kind: 'call', call: { id: item.callId, name: item.name, arguments: item.arguments || '{}' } }
        return item.output === null ? [call] : [call, { kind: 'result', callId: item.callId, text: item.output }]
      }
      case 'web_search_call':
        if (item.output === null) return []
        return [
          { kind: 'call', call: { id: item.callId, name: WEB_SEARCH, arguments: item.arguments || '{}' } },
          { kind: 'result', callId: item.callId, text: item.output },
        ]
    }
  })
}

function withPaths(item: MessageItem, pathOf: (fileId: string) => string | null): string {
  let text = item.text
  for (const citation of item.citations.toReversed()) {
    if ('url' in citation) continue
    const written = text.slice(citation.startIndex, citation.endIndex)
    if (!/^https?:\/\//.test(written)) continue
    text = `${text.slice(0, citation.startIndex)}sandbox:/mnt/data/${pathOf(citation.fileId) ?? citation.filename}${text.slice(citation.endIndex)}`
  }
  return text
}
