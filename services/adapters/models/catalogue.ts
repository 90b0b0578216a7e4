import type { ChatModel } from '../../ports/chat-model.ts'
import type { ModelCatalogue, OfferedModel } from '../../ports/model-catalogue.ts'
import type { ChatConfig } from './config.ts'
import type { Endpoint } from './endpoint-client.ts'
import { demoModel } from './demo.ts'
import { createOpenAiChat } from './openai-chat.ts'
import { quirksOf } from './quirks.ts'
import { windowOf } from './windows.ts'

export const DEMO = 'demo'
/** The list requires a time; this one has no meaning. */
const CREATED_AT = Date.UTC(2025, 0, 1)

/** The configured models, then the `demo` model, which is always available. */
export function createModelCatalogue(config: ChatConfig): ModelCatalogue {
  const clients = new Map<string, ChatModel>()
  const clientOf = (endpoint: Endpoint): ChatModel => {
    const key = JSON.stringify([endpoint.baseUrl, endpoint.apiKey])
    const client = clients.get(key) ?? createOpenAiChat(endpoint)
    clients.set(key, client)
    return client
  }
  const known = (endpoint: Endpoint, upstreamName: string): OfferedModel => {
    const { fencesCode, readsImages, enforcesSchema } = quirksOf(endpoint.baseUrl, upstreamName)
    return { chat: clientOf(endpoint), upstreamName, ...windowOf(upstreamName), fencesCode, readsImages, enforcesSchema }
  }
  const { openAi } = config
  const listed = [...new Set([...config.models.map((model) => model.name), ...(openAi?.models ?? []), DEMO])]

  /** Every call of a model looks it up, so the configured ones are made once. */
  const configured = new Map<string, OfferedModel>()
  for (const own of config.models)
    if (!configured.has(own.name))
      configured.set(own.name, {
        ...known(own, own.upstreamName),
        ...(own.contextWindow === null ? {} : { contextWindow: own.contextWindow }),
        ...(own.fencesCode === null ? {} : { fencesCode: own.fencesCode }),
        ...(own.readsImages === null ? {} : { readsImages: own.readsImages }),
        ...(own.enforcesSchema === true ? { enforcesSchema: true } : {}),
      })

  function find(id: string): OfferedModel | null {
    const own = configured.get(id)
    if (own !== undefined) return own
    if (openAi !== null && (openAi.models === null ? id !== DEMO && id !== '' : openAi.models.includes(id))) {
      return known(openAi, id)
    }
    if (id !== DEMO) return null
    return { chat: demoModel, upstreamName: DEMO, ...windowOf(DEMO), fencesCode: false, readsImages: false, enforcesSchema: false }
  }

  return {
    list: () => listed.map((id) => ({ id, createdAt: CREATED_AT, ownedBy: id === DEMO ? 'cellblock' : 'configured' })),
    has: (id) => find(id) !== null,
    find,
  }
}
