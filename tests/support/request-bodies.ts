import type * as z from 'zod'
import { ROUTES } from '../../services/wires/routes.ts'
import { CodeInterpreterTool, FunctionTool, ShellTool } from '../../services/wires/openai/responses/schema.ts'
import { CopyFileBody } from '../../services/wires/openai/container-files/schema.ts'
import { ReportedCalls } from '../../services/wires/librechat/programmatic/schema.ts'
import { ClientMessage } from '../../services/wires/openai/responses/socket-messages.ts'

export interface RequestBody {
  readonly name: string
  readonly schema: z.ZodType
}

/** The schema of every JSON body: of the routes, and of what handlers check on their own. */
export function requestBodies(): readonly RequestBody[] {
  const ofRoutes = ROUTES.flatMap(({ operationId, body, ownBody, streamed }) => {
    const schema = body ?? ownBody ?? (streamed?.contentType === 'application/json' ? streamed.schema : undefined)
    return schema === undefined ? [] : [{ name: operationId, schema: schema() }]
  })
  const others = { CodeInterpreterTool, FunctionTool, ShellTool, CopyFileBody, ReportedCalls, ClientMessage }
  const all = [...ofRoutes, ...Object.entries(others).map(([name, schema]) => ({ name, schema: schema() }))]
  // Some routes exist under two paths.
  return [...new Map(all.toReversed().map((body) => [body.schema, body])).values()].toReversed()
}

/** A place in a schema that accepts a list, or an object with any names. */
export interface Position {
  readonly path: string
  readonly kind: 'list' | 'object'
  readonly schema: z.core.$ZodType
  /** The smallest document that has `value` there; its outermost list has `copies` equal entries. */
  readonly around: (value: unknown, copies: number) => unknown
}

type Schema = z.core.$ZodTypes

/** What a schema wraps: an optional value, a default, the input of a transformation. */
function inner({ _zod: { def } }: Schema): Schema | null {
  if (def.type === 'pipe') return (def.in._zod.def.type === 'transform' ? def.out : def.in) as Schema
  return 'innerType' in def ? (def.innerType as Schema) : null
}

export function* positionsOf(given: z.core.$ZodType): Generator<Position, void, undefined> {
  const schema = given as Schema
  const { def } = schema._zod
  const wrapped = inner(schema)
  if (wrapped !== null) yield* positionsOf(wrapped)
  else if (def.type === 'union') for (const option of def.options) yield* positionsOf(option)
  else if (def.type === 'array') {
    yield { path: '', kind: 'list', schema, around: (value) => value }
    for (const { path, around, ...rest } of positionsOf(def.element)) {
      yield { ...rest, path: `[]${path}`, around: (value, copies) => Array(copies).fill(around(value, 1)) }
    }
  } else if (def.type === 'record') {
    yield { path: '', kind: 'object', schema, around: (value) => value }
    for (const { path, around, ...rest } of positionsOf(def.valueType))
      yield { ...rest, path: `{}${path}`, around: (value, copies) => ({ a: around(value, copies) }) }
  } else if (def.type === 'object') {
    if (def.catchall?._zod.def.type !== undefined && def.catchall._zod.def.type !== 'never')
      yield { path: '', kind: 'object', schema, around: (value) => ({ ...(sample(schema) as object), ...(value as object) }) }
    for (const [key, field] of Object.entries(def.shape))
      for (const { path, around, ...rest } of positionsOf(field))
        yield {
          ...rest,
          path: `.${key}${path}`,
          around: (value, copies) => ({ ...(sample(schema) as object), [key]: around(value, copies) }),
        }
  }
}

/** A small value that a schema mostly accepts: what matters is its form. */
function sample(given: z.core.$ZodType): unknown {
  const schema = given as Schema
  const { def } = schema._zod
  const wrapped = inner(schema)
  if (wrapped !== null) return sample(wrapped)
  switch (def.type) {
    case 'object': {
      const required = Object.entries(def.shape).filter(([, field]) => inner(field as Schema) === null)
      return Object.fromEntries(required.map(([key, field]) => [key, sample(field)]))
    }
    case 'union':
      return def.options[0] === undefined ? null : sample(def.options[0])
    case 'array':
      return def.element._zod.def.type === 'unknown' ? [] : [sample(def.element)]
    case 'enum':
      return Object.values(def.entries)[0]
    case 'literal':
      return def.values[0]
    case 'number':
      return 1
    case 'boolean':
      return true
    case 'null':
      return null
    case 'record':
      return {}
    default:
      return 'x'
  }
}
