import { z } from '@hono/zod-openapi'

/**
 * A list or object with at most `max` entries, counted before any of them is looked at: a body has room for a million wrong ones, and each
 * would become an error of its own.
 */
export const atMost = <Schema extends z.ZodType>(max: number, schema: Schema) =>
  z.preprocess((value, context) => {
    const isCrowded = typeof value === 'object' && value !== null && (Array.isArray(value) ? value : Object.keys(value)).length > max
    if (!isCrowded) return value
    context.addIssue({ code: 'custom', message: `give at most ${max} entries` })
    return z.NEVER
  }, schema)
