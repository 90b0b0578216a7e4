import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server'

/**
 * The arguments of a tool, with their JSON Schema made once. The SDK needs it in each call of revision 2026-07-28, and zod computes it each time.
 */
export function toolSchema<Input, Output>(schema: StandardSchemaWithJSON<Input, Output>): StandardSchemaWithJSON<Input, Output> {
  const standard = schema['~standard']
  const { jsonSchema } = standard
  const made = new Map<string, Record<string, unknown>>()
  const input: typeof jsonSchema.input = (options) => {
    const known = made.get(options.target)
    if (known !== undefined) return known
    const json = jsonSchema.input(options)
    made.set(options.target, json)
    return json
  }
  return { '~standard': { ...standard, jsonSchema: { ...jsonSchema, input } } }
}
