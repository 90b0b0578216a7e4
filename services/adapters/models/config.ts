import * as z from 'zod'

/**
 * One further model: `model` is its name at the endpoint, by default `name`. The key is a value, or the name of the variable that contains it.
 * `tool_calls` is `fenced` for a model that cannot call tools and writes its code in fenced blocks. `vision` false: the model receives no images of code.
 * `json_schema` is `native` for an endpoint whose answers always satisfy the schema of a request: they are streamed without a check.
 */
const ModelSetting = z.strictObject({
  name: z.string().min(1),
  base_url: z.url(),
  api_key: z.string().min(1).optional(),
  api_key_env: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  context_window: z.int().min(2_048).optional(),
  tool_calls: z.enum(['native', 'fenced']).optional(),
  vision: z.boolean().optional(),
  json_schema: z.literal('native').optional(),
})

export interface ModelConfig {
  readonly name: string
  readonly baseUrl: string
  readonly apiKey: string | null
  readonly upstreamName: string
  /** Tokens; null when not configured. */
  readonly contextWindow: number | null
  /** Null when not configured. */
  readonly fencesCode: boolean | null
  /** Null when not configured. */
  readonly readsImages: boolean | null
  /** Absent when not configured. */
  readonly enforcesSchema?: boolean
}

export interface ChatConfig {
  /** The endpoint of OPENAI_API_KEY. `models` null: requests may use any name. */
  readonly openAi: { readonly baseUrl: string; readonly apiKey: string | null; readonly models: readonly string[] | null } | null
  readonly models: readonly ModelConfig[]
}

type Env = Readonly<Record<string, string | undefined>>
const OPENAI = 'https://api.openai.com/v1'

/**
 * OPENAI_API_KEY, OPENAI_BASE_URL (a base URL alone is enough for a local server), OPENAI_MODELS (names, comma-separated) and
 * CELLBLOCK_MODELS (a JSON list). A model whose key is missing is an error, or is not offered. Throws an Error that names the variable and what is wrong with it.
 */
export function chatConfigFromEnv(env: Env = process.env, whenKeyIsMissing: 'throw' | 'leave_out' = 'throw'): ChatConfig {
  const apiKey = given(env['OPENAI_API_KEY'])
  const baseUrl = given(env['OPENAI_BASE_URL'])
  if (baseUrl !== null && !URL.canParse(baseUrl))
    throw new Error('OPENAI_BASE_URL is not a URL. Give one such as https://api.openai.com/v1.')
  const names = given(env['OPENAI_MODELS'])
  return {
    openAi:
      apiKey === null && baseUrl === null
        ? null
        : {
            baseUrl: baseUrl ?? OPENAI,
            apiKey,
            models:
              names === null
                ? null
                : names
                    .split(',')
                    .map((name) => name.trim())
                    .filter((name) => name !== ''),
          },
    models: readModels(env, whenKeyIsMissing),
  }
}

function readModels(env: Env, whenKeyIsMissing: 'throw' | 'leave_out'): readonly ModelConfig[] {
  const raw = given(env['CELLBLOCK_MODELS'])
  if (raw === null) return []
  const json = parseJson(raw)
  if (json === null) {
    throw new Error('CELLBLOCK_MODELS is not JSON. Give a list such as [{"name": "…", "base_url": "https://…/v1", "api_key_env": "…"}].')
  }
  const parsed = z.array(ModelSetting).safeParse(json)
  if (!parsed.success) throw new Error(`CELLBLOCK_MODELS is wrong: ${z.prettifyError(parsed.error)}`)
  return parsed.data.flatMap((model) => {
    const fromEnv = model.api_key_env === undefined ? null : given(env[model.api_key_env])
    if (model.api_key_env !== undefined && fromEnv === null) {
      if (whenKeyIsMissing === 'leave_out') return []
      throw new Error(`CELLBLOCK_MODELS: the model ${model.name} wants its key from ${model.api_key_env}, which is not set.`)
    }
    return {
      name: model.name,
      baseUrl: model.base_url,
      apiKey: model.api_key ?? fromEnv,
      upstreamName: model.model ?? model.name,
      contextWindow: model.context_window ?? null,
      fencesCode: model.tool_calls === undefined ? null : model.tool_calls === 'fenced',
      readsImages: model.vision ?? null,
      ...(model.json_schema === 'native' ? { enforcesSchema: true } : {}),
    }
  })
}

const given = (value: string | undefined): string | null => (value === undefined || value.trim() === '' ? null : value.trim())

/** The models, with the keys of the secret's JSON object `{"<name>": "<key>"}` where CELLBLOCK_MODELS and OPENAI_* name them. */
export function chatConfigFromSecret(secret: string, cellblockModels: string | undefined): ChatConfig {
  const keys = keysOfSecret(secret)
  return chatConfigFromEnv({ ...(cellblockModels === undefined ? {} : { CELLBLOCK_MODELS: cellblockModels }), ...keys }, 'leave_out')
}

/** The keys of models and tools by their names. Throws an Error that describes the required form of the secret. */
export function keysOfSecret(secret: string): Readonly<Record<string, string>> {
  const parsed = z.record(z.string(), z.string()).safeParse(parseJson(secret))
  if (!parsed.success) throw new Error('The secret of the model keys is not a JSON object of strings such as {"OPENAI_API_KEY": "…"}.')
  return parsed.data
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
