import type { z } from 'zod'

/**
 * Parses a value of which a process has one, such as its configuration. For the second value of a schema zod's generated parser is faster, but for the
 * only one generating it takes longer than the parse. Throws a ZodError.
 */
export const parseOnce = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> =>
  schema.parse(value, { jitless: true })
