import * as z from 'zod'
import { openObject } from '../../model/bounded-schemas.ts'
import { lazySchema } from '../../model/lazy-schema.ts'

/** Fields of a turn that a response and a chat completion have in common. */
export const ModelName = lazySchema(() => z.string('name a model; GET /v1/models lists them').min(1).max(256).openapi({ example: 'demo' }))
export const ToolChoice = lazySchema(() =>
  z
    .union([z.enum(['auto', 'none', 'required']), openObject({ type: z.string() })], 'give "auto", "none", "required" or {"type": …}')
    .nullish(),
)

const oneOf = <Values extends readonly [string, ...string[]]>(values: Values) =>
  lazySchema(() => z.enum(values, `give one of ${values.join(', ')}`).nullish())

/** Values that OpenAI's API accepts. Others are refused, so that a request that works here works there. */
export const ServiceTier = oneOf(['auto', 'default', 'flex', 'scale', 'priority', 'fast'])
export const CacheRetention = oneOf(['in_memory', 'in-memory', '24h'])
export const Verbosity = oneOf(['low', 'medium', 'high'])

const MAX_IDENTIFIER_CHARACTERS = 64
export const SafetyIdentifier = lazySchema(() =>
  z.string().max(MAX_IDENTIFIER_CHARACTERS, `give at most ${MAX_IDENTIFIER_CHARACTERS} characters, such as a hash`).nullish(),
)
