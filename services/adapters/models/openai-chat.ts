import { BoundedCache } from '../../model/bounded-cache.ts'
import type { ChatModel, ModelRequest } from '../../ports/chat-model.ts'
import { Capabilities } from './capabilities.ts'
import { chatParams } from './chat-params.ts'
import { deltasOf } from './chunk-deltas.ts'
import type { Endpoint, EndpointClient } from './endpoint-client.ts'
import type { EndpointFetchOptions } from './endpoint-fetch.ts'
import { quirksOf } from './quirks.ts'

/** Models of one endpoint whose rejected parameters are remembered. Clients choose the names, so there is a limit. */
const MAX_REMEMBERED_MODELS = 1_000

/** Any endpoint that speaks Chat Completions, through the `openai` package. */
export function createOpenAiChat(endpoint: Endpoint, options: EndpointFetchOptions = {}): ChatModel {
  const learned = new BoundedCache<string, Capabilities>(MAX_REMEMBERED_MODELS)
  let loading: ReturnType<typeof load> | null = null

  /** Starts the answer. A parameter that the endpoint rejects is omitted from this and later requests. */
  async function begin(client: EndpointClient, request: ModelRequest, signal: AbortSignal) {
    const quirks = quirksOf(endpoint.baseUrl, request.model)
    const capabilities = learned.get(request.model) ?? new Capabilities(quirks)
    const wanted = chatParams(request, quirks.requiresTools)
    for (;;) {
      const { params, dropped } = capabilities.adapt(wanted)
      try {
        return { dropped, chunks: await client.chat.completions.create(params, { signal }) }
      } catch (cause) {
        if (signal.aborted || !capabilities.learn(cause, params)) throw cause
        learned.set(request.model, capabilities)
      }
    }
  }

  return {
    async *stream(request, signal) {
      const { client, modelErrorOf } = await (loading ??= load(endpoint, options))
      try {
        const { chunks, dropped } = await begin(client, request, signal)
        if (dropped.length > 0) yield { type: 'dropped_parameters', names: dropped }
        for await (const chunk of chunks) yield* deltasOf(chunk)
      } catch (cause) {
        signal.throwIfAborted()
        throw modelErrorOf(cause, endpoint.apiKey)
      }
      // The package ends an aborted stream like a complete one.
      signal.throwIfAborted()
    },
  }
}

/** The package and Node's `fetch` are loaded with the first call, because they would delay every cold start. */
async function load(endpoint: Endpoint, options: EndpointFetchOptions) {
  const [{ EndpointClient }, { modelErrorOf }] = await Promise.all([import('./endpoint-client.ts'), import('./model-errors.ts')])
  return { client: new EndpointClient(endpoint, options), modelErrorOf }
}
