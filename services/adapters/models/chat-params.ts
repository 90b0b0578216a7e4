import type OpenAI from 'openai'
import type { ModelMessage, ModelRequest } from '../../ports/chat-model.ts'
import { toFencedMessages } from './fenced-messages.ts'

export type ChatParams = OpenAI.Chat.ChatCompletionCreateParamsStreaming

/** The request with all parameters; `Capabilities` removes those that the model rejects. */
export function chatParams(request: ModelRequest, requiresTools: boolean): ChatParams {
  const hasTools = !request.fencesCode && request.tools.length > 0 && (request.toolChoice !== 'none' || requiresTools)
  const messages = request.fencesCode ? toFencedMessages(request.messages) : request.messages
  return {
    model: request.model,
    messages: messages.map(messageOf),
    stream: true,
    stream_options: { include_usage: true },
    ...(hasTools ? toolParams(request) : {}),
    ...(request.responseFormat && { response_format: request.responseFormat as unknown as NonNullable<ChatParams['response_format']> }),
    ...(request.reasoningEffort && { reasoning_effort: request.reasoningEffort as NonNullable<ChatParams['reasoning_effort']> }),
    ...(request.verbosity && { verbosity: request.verbosity as NonNullable<ChatParams['verbosity']> }),
    ...(request.temperature !== null && { temperature: request.temperature }),
    ...(request.topP !== null && { top_p: request.topP }),
    ...(request.maxOutputTokens !== null && { max_completion_tokens: request.maxOutputTokens }),
  }
}

const toolParams = ({ tools, toolChoice, parallelToolCalls }: ModelRequest): Partial<ChatParams> => ({
  tools: tools.map((tool) => ({ type: 'function', function: { ...tool, parameters: { ...tool.parameters } } })),
  tool_choice: typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: toolChoice },
  ...(!parallelToolCalls && { parallel_tool_calls: false }),
})

function messageOf(message: ModelMessage): OpenAI.Chat.ChatCompletionMessageParam {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content }
    case 'user':
      if (typeof message.content === 'string') return { role: 'user', content: message.content }
      return {
        role: 'user',
        content: message.content.map((part) => (part.type === 'text' ? part : { type: 'image_url', image_url: { url: part.url } })),
      }
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content }
    case 'assistant': {
      if (message.toolCalls.length === 0) return { role: 'assistant', content: message.content }
      const calls = message.toolCalls.map(({ id, name, arguments: args }) => ({
        id,
        type: 'function' as const,
        function: { name, arguments: args },
      }))
      return { role: 'assistant', content: message.content === '' ? null : message.content, tool_calls: calls }
    }
  }
}
