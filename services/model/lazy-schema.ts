import type * as z from 'zod'

/**
 * A schema of a request or an answer, or fields that several have in common. It is built when a call or the OpenAPI document first needs it: a process
 * serves few of the routes at first, and building the schemas of all took a tenth of a cold start.
 */
export function lazySchema<Schema>(build: () => Schema): () => Schema {
  let schema: Schema | undefined
  return () => (schema ??= build())
}

/** What a lazy schema describes. */
export type Described<Lazy extends () => z.ZodType> = z.infer<ReturnType<Lazy>>

/** A lazy schema of an answer. Only these may have lists without a bound: the service itself makes their values. */
export function answerSchema<Schema>(build: () => Schema): () => Schema {
  return lazySchema(build)
}
