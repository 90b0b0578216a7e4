import type { CommandSource, ExecutionSource } from '../../model/executions/execution.ts'
import { newObjectKey } from '../../model/object-keys.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { readJson } from '../../ports/read-json.ts'
import type { CheckedSource } from './source.ts'

/** Larger code is stored as an object, so that the row stays far below the table's limit; bytes of its JSON form. */
const INLINE_CODE_BYTES = 200 * 1024
/** JSON needs at most six bytes for one UTF-16 unit, so shorter code need not be measured; units. */
const SURELY_INLINE_LENGTH = INLINE_CODE_BYTES / 6
/** The same for the arguments of a command, which share the row with its input and its variables. */
const INLINE_ARGUMENT_BYTES = 64 * 1024
/** What the row has of arguments that are stored as an object: the first ones, and the start of each. */
const SHOWN_ARGUMENTS = 50
const SHOWN_CHARACTERS = 100

const isInline = (code: string): boolean =>
  code.length <= SURELY_INLINE_LENGTH || Buffer.byteLength(JSON.stringify(code)) <= INLINE_CODE_BYTES

interface Given<Source> {
  readonly tenant: string
  readonly containerId: string
  readonly source: Source
}

/** The source as an execution's row has it. Parts that are too large for the row become objects of the container. */
export async function storeSource(
  { objects }: { readonly objects: ObjectStore },
  { tenant, containerId, source }: Given<CheckedSource>,
): Promise<ExecutionSource> {
  if (source.kind === 'command') return storeCommand(objects, { tenant, containerId, source })
  if (source.kind === 'notebook') {
    const objectKey = newObjectKey(tenant, 'notebooks', containerId)
    const { bytes } = await objects.put(objectKey, source.document, { contentType: 'application/x-ipynb+json' })
    return { kind: 'notebook', cells: source.cells, notebook: { objectKey, bytes } }
  }
  if (isInline(source.code)) return { kind: 'code', code: source.code }
  const objectKey = newObjectKey(tenant, 'requests', containerId)
  const { bytes } = await objects.put(objectKey, Buffer.from(source.code), { contentType: 'text/x-python' })
  return { kind: 'blob', code: { objectKey, bytes } }
}

async function storeCommand(objects: ObjectStore, { tenant, containerId, source }: Given<CommandSource>): Promise<CommandSource> {
  const json = JSON.stringify(source.argv)
  if (Buffer.byteLength(json) <= INLINE_ARGUMENT_BYTES) return source
  const objectKey = newObjectKey(tenant, 'requests', containerId)
  const { bytes } = await objects.put(objectKey, Buffer.from(json), { contentType: 'application/json' })
  return { ...source, argv: source.argv.slice(0, SHOWN_ARGUMENTS).map(startOf), storedArgv: { objectKey, bytes } }
}

const startOf = (argument: string): string =>
  argument.length <= SHOWN_CHARACTERS ? argument : `${argument.slice(0, SHOWN_CHARACTERS).toWellFormed()}…`

/** The program of a command and all its arguments. Throws when their object is missing. */
export const argumentsOf = async (objects: ObjectStore, { argv, storedArgv }: CommandSource): Promise<readonly string[]> =>
  storedArgv === undefined ? argv : ((await readJson(objects, storedArgv)) as readonly string[])
