import type OpenAI from 'openai'
import type { ModelMessage, ModelRequest } from '../../core/ports/chat-model.ts'
import { toFencedMessages } from './fenced-messages.ts'
import { quirksOf } from './quirks.ts'

export type ChatParams = OpenAI.Chat.ChatCompletionCreateParamsStreaming

/** The request as this endpoint takes it. */
export function chatParams(baseUrl: string, request: ModelRequest): ChatParams {
  const quirks = quirksOf(baseUrl, request.model)
  const hasTools = !request.fencesCode && request.tools.length > 0 && (request.toolChoice !== 'none' || quirks.wantsTools)
  const messages = request.fencesCode ? toFencedMessages(request.messages) : request.messages
  return {
    model: request.model,
    messages: messages.map(messageOf),
    stream: true,
    ...(quirks.refusesStreamOptions ? {} : { stream_options: { include_usage: true } }),
    ...(hasTools ? toolParams(request, !request.parallelToolCalls && !quirks.refusesParallel) : {}),
    ...(request.responseFormat === null
      ? {}
      : { response_format: request.responseFormat as unknown as NonNullable<ChatParams['response_format']> }),
    ...(request.reasoningEffort === null
      ? {}
      : { reasoning_effort: request.reasoningEffort as NonNullable<ChatParams['reasoning_effort']> }),
    ...(request.verbosity === null ? {} : { verbosity: request.verbosity as NonNullable<ChatParams['verbosity']> }),
    ...(quirks.takesTemperature && request.temperature !== null ? { temperature: request.temperature } : {}),
    ...(quirks.takesTemperature && request.topP !== null ? { top_p: request.topP } : {}),
    ...(request.maxOutputTokens === null ? {} : { [quirks.limitField]: request.maxOutputTokens }),
  }
}

const toolParams = (request: ModelRequest, forbidsParallel: boolean): Partial<ChatParams> => ({
  tools: request.tools.map((tool) => ({ type: 'function', function: { ...tool, parameters: { ...tool.parameters } } })),
  tool_choice: typeof request.toolChoice === 'string' ? request.toolChoice : { type: 'function', function: request.toolChoice },
  ...(forbidsParallel ? { parallel_tool_calls: false } : {}),
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
