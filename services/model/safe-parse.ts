import * as z from 'zod'

/**
 * Checks a value that a client or user code has shaped. Zod compares the `length` of everything for which a schema has a bound, also of what has the wrong
 * type, and throws a TypeError if it has no primitive value, as that of `{"length": [{"toString": 0}]}`. Such a value does not fit either.
 */
export function safeParse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.ZodSafeParseResult<z.output<Schema>> {
  try {
    return schema.safeParse(value)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const issue: z.core.$ZodIssue = { code: 'custom', path: [], message: 'a field has the wrong type', input: null }
    return { success: false, error: new z.ZodError([issue]) as z.ZodError<z.output<Schema>> }
  }
}
