import type { ChatModel } from '../../core/ports/chat-model.ts'
import { chatParams } from './chat-params.ts'
import { deltasOf } from './chunk-deltas.ts'
import type { Endpoint } from './endpoint-client.ts'
import type { EndpointFetchOptions } from './endpoint-fetch.ts'

/** Any endpoint that speaks Chat Completions, through the `openai` package. */
export function createOpenAiChat(endpoint: Endpoint, options: EndpointFetchOptions = {}): ChatModel {
  let loading: ReturnType<typeof load> | null = null
  return {
    async *stream(request, signal) {
      const { client, modelErrorOf } = await (loading ??= load(endpoint, options))
      try {
        const chunks = await client.chat.completions.create(chatParams(endpoint.baseUrl, request), { signal })
        for await (const chunk of chunks) yield* deltasOf(chunk)
      } catch (cause) {
        signal.throwIfAborted()
        throw modelErrorOf(cause)
      }
      // The package ends an aborted stream as if it were whole.
      signal.throwIfAborted()
    },
  }
}

/** The package and Node's `fetch` are loaded with the first call: they would lengthen every cold start. */
async function load(endpoint: Endpoint, options: EndpointFetchOptions) {
  const [{ EndpointClient }, { modelErrorOf }] = await Promise.all([import('./endpoint-client.ts'), import('./model-errors.ts')])
  return { client: new EndpointClient(endpoint, options), modelErrorOf }
}
