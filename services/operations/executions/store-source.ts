import type { ExecutionSource } from '../../model/executions/execution.ts'
import { newObjectKey } from '../../model/object-keys.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { CheckedSource } from './source.ts'

/** Larger code is stored as an object, so that the row stays far below the table's limit; bytes of its JSON form. */
const INLINE_CODE_BYTES = 200 * 1024
/** JSON needs at most six bytes for one UTF-16 unit, so shorter code need not be measured; units. */
const SURELY_INLINE_LENGTH = INLINE_CODE_BYTES / 6

const isInline = (code: string): boolean =>
  code.length <= SURELY_INLINE_LENGTH || Buffer.byteLength(JSON.stringify(code)) <= INLINE_CODE_BYTES

/** The source as an execution's row has it. Parts that are too large for the row become objects of the container. */
export async function storeSource(
  { objects }: { readonly objects: ObjectStore },
  { tenant, containerId, source }: { readonly tenant: string; readonly containerId: string; readonly source: CheckedSource },
): Promise<ExecutionSource> {
  if (source.kind === 'command') return source
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
