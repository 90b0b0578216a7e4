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
