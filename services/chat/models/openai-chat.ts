import type OpenAI from 'openai'
import { ModelError, type ChatModel, type ModelDelta, type ModelMessage, type ModelRequest } from '../../core/ports/chat-model.ts'
import { createChatEndpoint, EndpointError, type Endpoint } from './chat-endpoint.ts'
import { toFencedMessages } from './fenced-messages.ts'
import { quirksOf, readTooLong } from './quirks.ts'

type Params = OpenAI.Chat.ChatCompletionCreateParamsStreaming
type Chunk = OpenAI.Chat.ChatCompletionChunk

const REASONS: Readonly<Record<string, Extract<ModelDelta, { type: 'finish' }>['reason']>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
}

/** Any endpoint that speaks Chat Completions. */
export function createOpenAiChat(endpoint: Endpoint): ChatModel {
  const ask = createChatEndpoint(endpoint)
  return {
    async *stream(request, signal) {
      try {
        for await (const chunk of ask(paramsOf(endpoint.baseUrl, request), signal)) yield* deltasOf(chunk as Partial<Chunk>)
      } catch (cause) {
        throw signal.aborted ? cause : modelError(cause)
      }
    },
  }
}

function paramsOf(baseUrl: string, request: ModelRequest): Params {
  const quirks = quirksOf(baseUrl, request.model)
  const hasTools = !request.fencesCode && request.tools.length > 0 && (request.toolChoice !== 'none' || quirks.wantsTools)
  const messages = request.fencesCode ? toFencedMessages(request.messages) : request.messages
  return {
    model: request.model,
    messages: messages.map(messageOf),
    stream: true,
    ...(quirks.refusesStreamOptions ? {} : { stream_options: { include_usage: true } }),
    ...(hasTools
      ? { tools: request.tools.map((tool) => ({ type: 'function', function: { ...tool, parameters: { ...tool.parameters } } })) }
      : {}),
    ...(hasTools
      ? { tool_choice: typeof request.toolChoice === 'string' ? request.toolChoice : { type: 'function', function: request.toolChoice } }
      : {}),
    ...(hasTools && !request.parallelToolCalls && !quirks.refusesParallel ? { parallel_tool_calls: false } : {}),
    ...(request.responseFormat === null
      ? {}
      : { response_format: request.responseFormat as unknown as NonNullable<Params['response_format']> }),
    ...(request.reasoningEffort === null ? {} : { reasoning_effort: request.reasoningEffort as NonNullable<Params['reasoning_effort']> }),
    ...(request.verbosity === null ? {} : { verbosity: request.verbosity as NonNullable<Params['verbosity']> }),
    ...(quirks.takesTemperature && request.temperature !== null ? { temperature: request.temperature } : {}),
    ...(quirks.takesTemperature && request.topP !== null ? { top_p: request.topP } : {}),
    ...(request.maxOutputTokens === null ? {} : { [quirks.limitField]: request.maxOutputTokens }),
  }
}

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

function* deltasOf(chunk: Partial<Chunk>): Generator<ModelDelta> {
  const choice = chunk.choices?.[0]
  const delta = choice?.delta
  if (delta?.content) yield { type: 'text', text: delta.content }
  if (delta?.refusal) yield { type: 'refusal', text: delta.refusal }
  for (const [position, call] of (delta?.tool_calls ?? []).entries()) {
    yield {
      type: 'tool_call',
      index: call.index ?? position,
      id: call.id ?? null,
      name: call.function?.name ?? null,
      arguments: call.function?.arguments ?? '',
    }
  }
  if (choice?.finish_reason) yield { type: 'finish', reason: REASONS[choice.finish_reason] ?? 'stop' }
  if (chunk.usage) {
    const { prompt_tokens, completion_tokens, prompt_tokens_details: input, completion_tokens_details: output } = chunk.usage
    yield {
      type: 'usage',
      inputTokens: prompt_tokens ?? 0,
      cachedTokens: input?.cached_tokens ?? 0,
      outputTokens: completion_tokens ?? 0,
      reasoningTokens: output?.reasoning_tokens ?? 0,
    }
  }
}

/** The endpoint's own words may hold prompts or keys, so they stay in `cause`. */
function modelError(cause: unknown): ModelError {
  if (!(cause instanceof EndpointError)) {
    return new ModelError('The connection to the model broke or could not be made. Try again; the operator checks the base URL.', {
      retryable: true,
      status: null,
      cause,
    })
  }
  const { status, code } = cause
  const tooLong = readTooLong(status, code, cause.message)
  if (tooLong !== null)
    return new ModelError('The conversation is too long for the model, also after it was shortened. Start a new one, or send less.', {
      retryable: false,
      status,
      tooLong,
      cause,
    })
  const retryable = status === null || status === 408 || status === 409 || status === 429 || status >= 500
  return new ModelError(sentenceOf(status), { retryable, status, cause })
}

function sentenceOf(status: number | null): string {
  if (status === 401 || status === 403) return 'The model endpoint refused its key. The operator has to check it.'
  if (status === 404) return 'The model endpoint does not know this model. The operator has to check its name.'
  if (status === 429) return 'The model endpoint has too many requests. Wait a moment and try again.'
  if (status === null || status >= 500) return 'The model endpoint failed. Try again.'
  return `The model endpoint refused the request with status ${status}. A shorter conversation or other options may help.`
}
