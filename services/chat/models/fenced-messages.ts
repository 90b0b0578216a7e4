import type { ModelMessage, ModelToolCall } from '../../core/ports/chat-model.ts'
import { PYTHON } from '../tools/python.ts'

/**
 * A conversation for a model that knows no tools: calls become fenced blocks of its messages, results become user messages. Roles still
 * alternate.
 */
export function toFencedMessages(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const fenced: ModelMessage[] = []
  for (const message of messages) {
    if (message.role === 'assistant') {
      const parts = [message.content, ...message.toolCalls.map(blockOf)].filter((part) => part !== '')
      fenced.push({ role: 'assistant', content: parts.join('\n\n'), toolCalls: [] })
    } else if (message.role === 'tool') {
      const text = `What the code came to:\n${message.content}`
      const last = fenced.at(-1)
      if (last?.role === 'user' && typeof last.content === 'string')
        fenced[fenced.length - 1] = { ...last, content: `${last.content}\n\n${text}` }
      else fenced.push({ role: 'user', content: text })
    } else fenced.push(message)
  }
  return fenced
}

function blockOf({ name, arguments: json }: ModelToolCall): string {
  const code = name === PYTHON ? codeOf(json) : null
  return code === null ? `[${name} was called with ${json}]` : `\`\`\`python\n${code.replace(/\n$/, '')}\n\`\`\``
}

function codeOf(json: string): string | null {
  try {
    const { code } = JSON.parse(json) as { code?: unknown }
    return typeof code === 'string' ? code : null
  } catch {
    return null
  }
}
