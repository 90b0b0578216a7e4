import type * as z from 'zod'
import { ServiceError } from '../model/errors.ts'
import { safeParse } from '../model/safe-parse.ts'

/** `input[0].content`, as OpenAI names a field in `param`. */
const paramOf = (path: readonly PropertyKey[]): string =>
  path
    .reduce<string>(
      (name, part) => (typeof part === 'number' ? `${name}[${part}]` : name === '' ? String(part) : `${name}.${String(part)}`),
      '',
    )
    .slice(0, 200)

interface Fault {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** For a union, the error of the best matching variant: the one that failed at the deepest path. */
function faultOf(issue: z.core.$ZodIssue, what: 'body' | 'query', at: readonly PropertyKey[] = []): Fault {
  const path = [...at, ...issue.path]
  // The field itself is named, and not the object that may not contain it.
  if (issue.code === 'unrecognized_keys')
    return {
      path: [...path, ...issue.keys.slice(0, 1)],
      message: what === 'body' ? 'there is no such field' : 'there is no such parameter',
    }
  const own: Fault = { path, message: issue.message }
  if (issue.code !== 'invalid_union') return own
  const inner = issue.errors.flatMap(([first]) => (first === undefined ? [] : [faultOf(first, what, own.path)]))
  return inner.reduce((best, fault) => (fault.path.length > best.path.length ? fault : best), own)
}

/** Throws ServiceError `invalid_request` for the first fault, naming the field. */
export function validate<T>(schema: z.ZodType<T>, value: unknown, what: 'body' | 'query'): T {
  const parsed = safeParse(schema, value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const fault: Fault = issue === undefined ? { path: [], message: 'it is not as documented' } : faultOf(issue, what)
  const param = fault.path.length === 0 ? null : paramOf(fault.path)
  const sentence = fault.message.replace(/\.$/, '')
  const where = param === null ? `The request ${what}` : `'${param}'`
  throw new ServiceError(
    'invalid_request',
    `${where} is not valid: ${sentence}. /docs describes the accepted values.`,
    param === null ? {} : { param },
  )
}

/** Parameters that are lists. SDKs write `include[]=a`, OpenAI's specification writes `include=a&include=b`. */
const LISTS: readonly string[] = ['include', 'exclude']

/** A query as plain values. A name given twice has no single meaning and is refused, except for lists and names that end in `[]`. */
export function parseQuery(url: string): Record<string, string | string[]> {
  const start = url.indexOf('?')
  if (start === -1) return {}
  const query: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>
  const hash = url.indexOf('#', start)
  for (const [name, value] of new URLSearchParams(url.slice(start + 1, hash === -1 ? undefined : hash))) {
    const list = /^(.+)\[\d*\]$/.exec(name)?.[1] ?? (LISTS.includes(name) ? name : undefined)
    if (list !== undefined) {
      const before = query[list]
      query[list] = Array.isArray(before) ? [...before, value] : [value]
    } else if (name in query) {
      throw new ServiceError('invalid_request', `The query parameter '${name.slice(0, 60)}' is given twice. Give it once.`, {
        param: name.slice(0, 60),
      })
    } else query[name] = value
  }
  return query
}
