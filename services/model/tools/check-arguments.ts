import * as z from 'zod'
import { safeParse } from '../safe-parse.ts'

type Checked = { readonly args: Readonly<Record<string, unknown>> } | { readonly why: string }

const checkers = new WeakMap<object, (raw: string) => Checked>()

/** Reads the arguments that a model wrote for this tool; `why` is a sentence for the model. Throws when the tool's schema cannot be used. */
export function argumentChecker(tool: { readonly parameters: Readonly<Record<string, unknown>> }): (raw: string) => Checked {
  const known = checkers.get(tool.parameters)
  if (known !== undefined) return known
  const schema = z.fromJSONSchema(tool.parameters)
  const check = (raw: string): Checked => {
    const value = parse(raw.trim() === '' ? '{}' : raw)
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { why: 'the arguments are not a JSON object. Call the tool again with one' }
    const parsed = safeParse(schema, value)
    if (parsed.success) return { args: value as Readonly<Record<string, unknown>> }
    const [issue] = parsed.error.issues
    const place = issue === undefined || issue.path.length === 0 ? 'the arguments' : `the argument ${issue.path.join('.')}`
    return { why: `${place} cannot be used: ${issue?.message ?? 'it is not as the schema says'}. Call the tool again` }
  }
  checkers.set(tool.parameters, check)
  return check
}

/** Undefined when it is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
