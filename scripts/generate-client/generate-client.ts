import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { openApiDocument } from '../../services/entries/api/openapi.ts'

const GENERATOR = join(import.meta.dirname, 'node_modules/openapi-typescript/bin/cli.js')
const MAX_BYTES = 10_000_000
type Json = Readonly<Record<string, unknown>>

interface Operation extends Json {
  readonly operationId: string
  readonly responses: Readonly<Record<string, Json>>
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

/** The text of the client's types: what openapi-typescript makes of the document, and every operation by its method and path. */
export function generateClient(): string {
  const document = clientDocument(openApiDocument('http://localhost') as { readonly paths: Paths; readonly components: Json })
  const options = ['--root-types', '--root-types-no-schema-prefix', '--default-non-nullable', 'false']
  const { status, stdout, stderr } = spawnSync(process.execPath, [GENERATOR, ...options], {
    input: JSON.stringify(document),
    encoding: 'utf8',
    maxBuffer: MAX_BYTES,
  })
  if (status !== 0) throw new Error(`openapi-typescript failed: ${stderr}`)
  const operations = operationsOf(document.paths).map(
    ([name, { operationId }]) => `    ${JSON.stringify(name)}: operations[${JSON.stringify(operationId)}];`,
  )
  return `${stdout}/** Every operation, by its method and path. */\nexport interface Operations {\n${operations.join('\n')}\n}\n`
}

const operationsOf = (paths: Paths): readonly (readonly [string, Operation])[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  )

/**
 * The part of the document that the client has. Wires with their own clients and operations that `fetch` cannot use, such as a WebSocket, are left out,
 * and errors too, which the client throws.
 */
function clientDocument({ paths, components, ...rest }: { readonly paths: Paths; readonly components: Json }) {
  const kept: Record<string, Record<string, Operation>> = {}
  for (const [path, methods] of Object.entries(paths).filter(([name]) => name.startsWith('/v1/')))
    for (const [method, operation] of Object.entries(methods)) {
      const answers = Object.entries(operation.responses).filter(([status]) => /^[23]/.test(status))
      if (answers.length > 0) (kept[path] ??= {})[method] = { ...operation, responses: Object.fromEntries(answers) }
    }
  return { ...rest, paths: kept, components: { schemas: usedSchemas(kept, components['schemas'] as Json) } }
}

/** The schemas that a part of the document names, and those that these name. */
function usedSchemas(part: unknown, schemas: Json): Json {
  const used = new Set<string>()
  const visit = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name)) continue
      used.add(name)
      visit(schemas[name])
    }
  }
  visit(part)
  return Object.fromEntries([...used].toSorted().map((name) => [name, schemas[name]]))
}
