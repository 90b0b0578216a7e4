import type { ChatModel } from '../../ports/chat-model.ts'
import type { ModelCatalogue, OfferedModel } from '../../ports/model-catalogue.ts'
import type { ChatConfig } from './config.ts'
import type { Endpoint } from './endpoint-client.ts'
import { demoModel } from './demo.ts'
import { createOpenAiChat } from './openai-chat.ts'
import { quirksOf } from './quirks.ts'

/** Families of models by their public names. The first row that matches counts; an operator's `context_window` has priority. */
interface Family {
  readonly model: RegExp
  /** Tokens that input and output may take together. */
  readonly contextWindow: number
  /** UTF-8 bytes to a token; a tokenizer with a small vocabulary needs more tokens. */
  readonly bytesPerToken?: number
}

const FAMILIES: readonly Family[] = [
  { model: /gpt-4\.1/, contextWindow: 1_047_576 },
  { model: /gpt-[5-9]/, contextWindow: 400_000 },
  { model: /gpt-oss/, contextWindow: 131_072 },
  { model: /gpt-4o|gpt-4-turbo|gpt-4-(?:0125|1106)|chatgpt-4o/, contextWindow: 128_000 },
  { model: /gpt-4-32k/, contextWindow: 32_768 },
  { model: /gpt-4/, contextWindow: 8_192 },
  { model: /gpt-3\.5/, contextWindow: 16_385 },
  { model: /(?:^|\/)o[134](?:-|$)/, contextWindow: 200_000 },
  { model: /claude/i, contextWindow: 200_000, bytesPerToken: 3.2 },
  { model: /gemini/i, contextWindow: 1_048_576 },
  { model: /llama-?3\.[1-3]|llama-?4/i, contextWindow: 131_072 },
  { model: /llama-?3/i, contextWindow: 8_192 },
  { model: /qwen/i, contextWindow: 32_768 },
  { model: /deepseek/i, contextWindow: 65_536 },
  { model: /mi[sx]tral/i, contextWindow: 32_768, bytesPerToken: 3.2 },
  { model: /gemma-?[34]/i, contextWindow: 131_072 },
  { model: /gemma|phi/i, contextWindow: 8_192, bytesPerToken: 3.2 },
]
/** The window of a model that is not in the table. */
const UNKNOWN = { contextWindow: 128_000, bytesPerToken: 3.6 }

function windowOf(model: string): { readonly contextWindow: number; readonly bytesPerToken: number } {
  const family = FAMILIES.find((row) => row.model.test(model))
  return { contextWindow: family?.contextWindow ?? UNKNOWN.contextWindow, bytesPerToken: family?.bytesPerToken ?? UNKNOWN.bytesPerToken }
}

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
    list: () =>
      listed.map((id) => ({
        id,
        createdAt: CREATED_AT,
        ownedBy: id === DEMO ? 'cellblock' : 'configured',
        readsImages: find(id)?.readsImages ?? false,
      })),
    has: (id) => find(id) !== null,
    find,
  }
}
