import type { ModelContentPart, ModelToolCall } from '../../model/responses/model-content.ts'
import type { ModelMessage } from '../../ports/chat-model.ts'
import { PYTHON } from '../../model/responses/items/code-interpreter-call.ts'

/**
 * A conversation for a model without tool calls: calls become fenced blocks of its messages, results become user messages. Roles still alternate.
 */
export function toFencedMessages(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const fenced: ModelMessage[] = []
  for (const message of messages) {
    if (message.role === 'assistant') {
      const parts = [message.content, ...message.toolCalls.map(blockOf)].filter((part) => part !== '')
      fenced.push({ role: 'assistant', content: parts.join('\n\n'), toolCalls: [] })
    } else if (message.role === 'tool') {
      const text = `What the code came to:\n${message.content}`
      pushUser(fenced, text)
    } else if (message.role === 'user') pushUser(fenced, message.content)
    else fenced.push(message)
  }
  return fenced
}

type UserContent = string | readonly ModelContentPart[]

function pushUser(messages: ModelMessage[], content: UserContent): void {
  const last = messages.at(-1)
  if (last?.role !== 'user') messages.push({ role: 'user', content })
  else messages[messages.length - 1] = { role: 'user', content: join(last.content, content) }
}

function join(first: UserContent, second: UserContent): UserContent {
  if (typeof first === 'string' && typeof second === 'string') return `${first}\n\n${second}`
  return [first, second].flatMap((content) => (typeof content === 'string' ? [{ type: 'text', text: content } as const] : content))
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
