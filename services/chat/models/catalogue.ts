import type { ChatModel } from '../../core/ports/chat-model.ts'
import type { ModelCatalogue, OfferedModel } from '../../core/ports/model-catalogue.ts'
import type { ChatConfig } from '../config.ts'
import { demoModel } from './demo.ts'
import { createOpenAiChat, type Endpoint } from './openai-chat.ts'

export const DEMO = 'demo'
/** Models whose window nobody stated are believed to have this one, tokens. */
const DEFAULT_WINDOW = 128_000
/** The list wants a time; ours has no meaning. */
const CREATED_AT = Date.UTC(2025, 0, 1)

/** The models of the configuration, then the `demo` model, which is always there. */
export function createModelCatalogue(config: ChatConfig): ModelCatalogue {
  const clients = new Map<string, ChatModel>()
  const clientOf = (endpoint: Endpoint): ChatModel => {
    const key = JSON.stringify([endpoint.baseUrl, endpoint.apiKey])
    const client = clients.get(key) ?? createOpenAiChat(endpoint)
    clients.set(key, client)
    return client
  }
  const { openAi } = config
  const listed = [...new Set([...config.models.map((model) => model.name), ...(openAi?.models ?? []), DEMO])]

  function find(id: string): OfferedModel | null {
    const own = config.models.find((model) => model.name === id)
    if (own !== undefined)
      return { chat: clientOf(own), upstreamName: own.upstreamName, contextWindow: own.contextWindow ?? DEFAULT_WINDOW }
    if (openAi !== null && (openAi.models === null ? id !== DEMO && id !== '' : openAi.models.includes(id))) {
      return { chat: clientOf(openAi), upstreamName: id, contextWindow: DEFAULT_WINDOW }
    }
    return id === DEMO ? { chat: demoModel, upstreamName: DEMO, contextWindow: DEFAULT_WINDOW } : null
  }

  return {
    list: () => listed.map((id) => ({ id, createdAt: CREATED_AT, ownedBy: id === DEMO ? 'cellblock' : 'configured' })),
    has: (id) => find(id) !== null,
    find,
  }
}
