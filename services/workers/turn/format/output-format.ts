import { formatInstruction } from '../../../model/responses/format-instruction.ts'
import { isJson } from '../answer/answer-stream.ts'
import { faultsOf } from './json-schema.ts'

type Wire = Readonly<Record<string, unknown>>

/** The JSON that a request wants as its answer. */
export interface OutputFormat {
  readonly name: string
  /** The JSON schema of the answer. */
  readonly schema: Wire
}

/** The answer as JSON text, or what is wrong with it, for the model. */
export type CheckedText = { readonly json: string } | { readonly problem: string }

/** `text.format` of a request; null for plain text. */
export function outputFormatOf(text: unknown): OutputFormat | null {
  const format = ((text ?? {}) as Wire)['format'] as Wire | null | undefined
  switch (format?.['type']) {
    case 'json_object':
      return { name: 'json_object', schema: { type: 'object' } }
    case 'json_schema':
      return { name: String(format['name']), schema: format['schema'] as Wire }
    default:
      return null
  }
}

/** Checks an answer. Models without a JSON mode surround their JSON with prose or a fence, which is removed. Throws SchemaError. */
export function checkText({ schema }: OutputFormat, text: string): CheckedText {
  const json = candidatesIn(text).find(isJson)
  if (json === undefined) return { problem: 'It is not JSON.' }
  const faults = faultsOf(schema, JSON.parse(json))
  return faults === null ? { json } : { problem: `It does not satisfy the schema:\n${faults}` }
}

const FENCE = /```(?:json)?[ \t]*\n([\s\S]*?)\n?```/gi

function candidatesIn(text: string): readonly string[] {
  const whole = text.trim()
  const fenced = [...whole.matchAll(FENCE)].map((match) => (match[1] ?? '').trim()).toReversed()
  const between = (open: string, close: string): string => whole.slice(Math.max(0, whole.indexOf(open)), whole.lastIndexOf(close) + 1)
  return [whole, ...fenced, between('{', '}'), between('[', ']')].filter((candidate) => candidate !== '')
}

/** Asks for a corrected answer. */
export const repairRequest = (problem: string, schema: unknown): string =>
  `[Not from the user: the answer above cannot be used. ${problem}]\n${formatInstruction(schema)}`
