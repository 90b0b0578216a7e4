// Writes packages/client/src/api.ts, the types of every operation, from the OpenAPI document. `--check` only compares.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openApiDocument } from '../services/entries/api/openapi.ts'

const TARGET = join(import.meta.dirname, '../packages/client/src/api.ts')
type Json = Readonly<Record<string, unknown>>

/** Wires with their own clients are not part of this one. */
const isNative = (path: string): boolean => path.startsWith('/v1/')

/** The text of the generated module. */
export function generateClient(): string {
  const document = openApiDocument('http://localhost') as { readonly paths: Readonly<Record<string, Json>>; readonly components: Json }
  const schemas = document.components['schemas'] as Readonly<Record<string, Json>>
  const operations = Object.entries(document.paths)
    .filter(([path]) => isNative(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation as Json] as const),
    )
  const bodies = operations.map(([name, operation]) => `  ${JSON.stringify(name)}: ${operationType(operation)}`)
  const text = bodies.join('\n')
  const types = usedSchemas(text, schemas).map((name) => `export type ${name} = ${typeOf(schemas[name] ?? {})}`)
  return [
    '// Generated from the OpenAPI document by scripts/generate-client.ts. Do not edit.',
    ...types,
    `/** Every operation, by its method and path. */\nexport interface Operations {\n${text}\n}`,
    '',
  ].join('\n\n')
}

/** The names of all schemas that a text needs, those that other schemas need included. */
function usedSchemas(text: string, schemas: Readonly<Record<string, Json>>): string[] {
  const used = new Set<string>()
  const visit = (part: string): void => {
    for (const name of Object.keys(schemas)) {
      if (used.has(name) || !new RegExp(`\\b${name}\\b`).test(part)) continue
      used.add(name)
      visit(typeOf(schemas[name] ?? {}))
    }
  }
  visit(text)
  return [...used].toSorted()
}

function operationType(operation: Json): string {
  const parameters = (operation['parameters'] ?? []) as readonly Json[]
  const named = (place: string): string => {
    const fields = parameters.filter((parameter) => parameter['in'] === place)
    if (fields.length === 0) return 'undefined'
    return `{ ${fields.map((one) => `${JSON.stringify(one['name'])}${one['required'] === true ? '' : '?'}: ${typeOf(one['schema'] as Json)}`).join('; ')} }`
  }
  const { requestBody, responses } = operation as { readonly requestBody?: Json; readonly responses: Readonly<Record<string, Json>> }
  const answers = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, answer]) => contentType(answer['content'] as Json | undefined))
  return `{ params: ${named('path')}; query: ${named('query')}; body: ${requestBody === undefined ? 'undefined' : contentType(requestBody['content'] as Json)}; answer: ${unionOf(answers)} }`
}

function contentType(content: Json | undefined): string {
  const json = content?.['application/json'] as Json | undefined
  if (json !== undefined) return typeOf((json['schema'] ?? {}) as Json)
  return content !== undefined && 'multipart/form-data' in content ? 'FormData' : 'unknown'
}

const unionOf = (types: readonly string[]): string => [...new Set(types)].join(' | ') || 'unknown'

/** A JSON schema as a TypeScript type. */
function typeOf(schema: Json): string {
  if (typeof schema['$ref'] === 'string') return schema['$ref'].split('/').at(-1) ?? 'unknown'
  if ('const' in schema) return JSON.stringify(schema['const'])
  if (Array.isArray(schema['enum'])) return unionOf(schema['enum'].map((value) => JSON.stringify(value)))
  for (const [key, glue] of [
    ['anyOf', ' | '],
    ['oneOf', ' | '],
    ['allOf', ' & '],
  ] as const)
    if (Array.isArray(schema[key])) return `(${(schema[key] as Json[]).map(typeOf).join(glue)})`
  const { type } = schema
  if (Array.isArray(type)) return unionOf(type.map((one) => typeOf({ ...schema, type: one })))
  switch (type) {
    case 'string':
      return 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array':
      return `${'items' in schema ? typeOf(schema['items'] as Json) : 'unknown'}[]`
    case 'object':
      return objectType(schema)
    default:
      return 'unknown'
  }
}

function objectType(schema: Json): string {
  const {
    properties = {},
    required = [],
    additionalProperties,
  } = schema as {
    readonly properties?: Readonly<Record<string, Json>>
    readonly required?: readonly string[]
    readonly additionalProperties?: boolean | Json
  }
  const fields = Object.entries(properties).map(
    ([name, field]) => `${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(field)}`,
  )
  const own = fields.length === 0 ? null : `{ ${fields.join('; ')} }`
  if (typeof additionalProperties === 'object' && own === null) return `{ [name: string]: ${typeOf(additionalProperties)} }`
  return own ?? '{ [name: string]: unknown }'
}

if (process.argv[1] === import.meta.filename) {
  const text = generateClient()
  if (!process.argv.includes('--check')) await writeFile(TARGET, text)
  else if ((await readFile(TARGET, 'utf8')) !== text)
    throw new Error('packages/client/src/api.ts is out of date. Run scripts/generate-client.ts.')
}
