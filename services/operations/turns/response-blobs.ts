import type { BlobRef } from '../../model/executions/execution.ts'
import { newObjectKey } from '../../model/object-keys.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { readJson } from '../../ports/read-json.ts'
import type { ResponseRecord, ResponseRequest } from '../../model/responses/response.ts'
import type { ResponseItem } from '../../model/responses/items/item-types.ts'

/** JSON up to this many bytes stays in the row; a row may have 400 KB in all. */
const MAX_INLINE_REQUEST = 96 * 1024
const MAX_INLINE_ITEMS = 128 * 1024

const encoder = new TextEncoder()
type Owner = { readonly tenant: string; readonly id: string }

/**
 * The row's `request` and `requestRef`. A large request is stored as an object; the row's copy then has an empty input, and if it is still too large,
 * only the fields that steps and routes read.
 */
export async function storeRequest(
  objects: ObjectStore,
  owner: Owner,
  request: ResponseRequest,
): Promise<{ readonly request: ResponseRequest; readonly requestRef: BlobRef | null }> {
  const json = encoder.encode(JSON.stringify(request))
  if (json.length <= MAX_INLINE_REQUEST) return { request, requestRef: null }
  const kept = { ...request, input: [] }
  const isStillBig = encoder.encode(JSON.stringify(kept)).length > MAX_INLINE_REQUEST
  return {
    request: isStillBig ? { ...kept, instructions: null, tools: [], toolChoice: 'auto', metadata: {}, echoed: {} } : kept,
    requestRef: await putJson(objects, owner, { kind: 'requests', json }),
  }
}

/** The row's `items` and `itemsRef`. */
export async function storeItems(
  objects: ObjectStore,
  owner: Owner,
  items: readonly ResponseItem[],
): Promise<{ readonly items: readonly ResponseItem[]; readonly itemsRef: BlobRef | null }> {
  const json = encoder.encode(JSON.stringify(items))
  if (json.length <= MAX_INLINE_ITEMS) return { items, itemsRef: null }
  return { items: [], itemsRef: await putJson(objects, owner, { kind: 'results', json }) }
}

/** The row with request and items from their objects. Throws when an object is missing. */
export async function loadResponse(objects: ObjectStore, row: ResponseRecord): Promise<ResponseRecord> {
  if (row.requestRef === null && row.itemsRef === null) return row
  const [request, items] = await Promise.all([
    row.requestRef === null ? row.request : (readJson(objects, row.requestRef) as Promise<ResponseRequest>),
    row.itemsRef === null ? row.items : (readJson(objects, row.itemsRef) as Promise<readonly ResponseItem[]>),
  ])
  return { ...row, request, items }
}

async function putJson(
  objects: ObjectStore,
  owner: Owner,
  { kind, json }: { readonly kind: 'requests' | 'results'; readonly json: Uint8Array },
): Promise<BlobRef> {
  const objectKey = newObjectKey(owner.tenant, kind, owner.id)
  const { bytes } = await objects.put(objectKey, json, { contentType: 'application/json' })
  return { objectKey, bytes }
}
