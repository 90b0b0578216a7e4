import { LIMITS } from '../../model/limits.ts'
import { REF_MIME, type MimeBundle, type OutputRef } from '../../model/executions/outputs.ts'
import type { ObjectStore } from '../../ports/object-store.ts'

const BINARY = /^(image\/(?!svg\+xml)|audio\/|video\/|application\/(pdf|octet-stream|zip))/
const JSON_TYPE = /(\+json|^application\/json)$/

/**
 * Stores the parts of a MIME bundle that are too large for a row as objects. `cellblock/ref` of the returned bundle has the reference, or a list of
 * references. Text up to 64 KB and images up to 256 KB of base64 stay inline. A `cellblock/ref` in the kernel's bundle is dropped, because it could
 * name another tenant's object. `keyOf` returns the same key for the same part of the same output, so a step that reads an execution again finds
 * the objects; with `isStored` they are not stored again.
 */
export async function spillBundle(
  objects: Pick<ObjectStore, 'put'>,
  bundle: MimeBundle,
  options: { readonly keyOf: (mime: string) => string; readonly isStored: boolean },
): Promise<MimeBundle> {
  const kept: Record<string, unknown> = {}
  const refs: OutputRef[] = []
  for (const [mime, value] of Object.entries(bundle)) {
    if (mime === REF_MIME) continue
    const body = bigPart(mime, value)
    if (body === null) {
      kept[mime] = value
      continue
    }
    const objectKey = options.keyOf(mime)
    if (!options.isStored) await objects.put(objectKey, body, { contentType: mime })
    refs.push({ objectKey, bytes: body.length, mime })
  }
  if (refs.length === 1) kept[REF_MIME] = refs[0]
  else if (refs.length > 1) kept[REF_MIME] = refs
  return kept
}

/** The bytes of a part that is too large to stay inline; null for a smaller one. */
function bigPart(mime: string, value: unknown): Uint8Array | null {
  const text = typeof value === 'string' ? value : Array.isArray(value) && !JSON_TYPE.test(mime) ? value.join('') : JSON.stringify(value)
  const limit = BINARY.test(mime) ? LIMITS.maxInlineBinaryBytes : LIMITS.maxInlineTextBytes
  if (text.length <= limit) return null
  return Buffer.from(text, BINARY.test(mime) ? 'base64' : 'utf8')
}
