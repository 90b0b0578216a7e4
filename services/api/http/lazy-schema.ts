import type { z } from '@hono/zod-openapi'

/**
 * A schema that only the OpenAPI document reads: that of an answer, or of a form that a handler reads itself. It is built when the document is first
 * requested. Building all of them took an eighth of a cold start.
 */
export function lazySchema<Schema>(build: () => Schema): () => Schema {
  let schema: Schema | undefined
  return () => (schema ??= build())
}

/** What a lazy schema describes. */
export type Described<Lazy extends () => z.ZodType> = z.infer<ReturnType<Lazy>>
