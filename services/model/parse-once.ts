import type * as z from 'zod'

/**
 * Parses a value that a process parses once, such as its configuration. Zod's generated parser is faster from the second value of a schema on, but for one
 * value it takes longer to generate than to parse. Throws a ZodError.
 */
export const parseOnce = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> =>
  schema.parse(value, { jitless: true })
