import { runInNewContext } from 'node:vm'
import { Validator, type OutputUnit, type SchemaDraft } from '@cfworker/json-schema'

/** A schema may contain patterns that take exponential time, so each check is limited, milliseconds. */
const TIMEOUT_MS = 500
/** Errors that are read, and faults that a description names. */
const MAX_ERRORS = 200
const MAX_FAULTS = 5
const MAX_FAULT_CHARS = 300

/** The schema of a request cannot be used; `message` is a sentence for the client. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError'
}

/**
 * What is wrong with `value`, one line per fault; null when it satisfies the schema. The validator interprets the schema and generates no code, because
 * clients write the schemas. Throws SchemaError.
 */
export function faultsOf(schema: Readonly<Record<string, unknown>>, value: unknown): string | null {
  let errors: readonly OutputUnit[]
  try {
    const validate = (): readonly OutputUnit[] => new Validator(schema, draftOf(schema), false).validate(value).errors
    // The time limit of a context also ends functions and regular expressions from outside.
    errors = runInNewContext('validate()', { validate }, { timeout: TIMEOUT_MS }) as readonly OutputUnit[]
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split('\n', 1)[0] : String(cause)
    throw new SchemaError(`The schema of the requested format cannot be used: ${(reason ?? '').slice(0, MAX_FAULT_CHARS)}.`, { cause })
  }
  // Each fault occurs again for every object and list around it.
  const read = errors.filter(({ keyword }) => keyword !== 'false').slice(0, MAX_ERRORS)
  const innermost = read.filter((error) => !read.some((other) => other !== error && isWithin(other, error)))
  const lines = innermost.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`.slice(0, MAX_FAULT_CHARS))
  return lines.length === 0 ? null : [...new Set(lines)].slice(0, MAX_FAULTS).join('\n')
}

const isWithin = (inner: OutputUnit, outer: OutputUnit): boolean =>
  inner.keywordLocation.startsWith(`${outer.keywordLocation}/`) && inner.instanceLocation.startsWith(outer.instanceLocation)

const DRAFTS: readonly (readonly [RegExp, SchemaDraft])[] = [
  [/draft-0[67]/, '7'],
  [/draft-04/, '4'],
  [/2019-09/, '2019-09'],
]

const draftOf = ({ $schema }: Readonly<Record<string, unknown>>): SchemaDraft =>
  DRAFTS.find(([pattern]) => pattern.test(String($schema)))?.[1] ?? '2020-12'
