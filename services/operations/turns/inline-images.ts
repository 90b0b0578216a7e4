import type { ObjectStore } from '../../ports/object-store.ts'
import { readBytes } from '../../model/read-bytes.ts'
import { loadResponse } from './response-blobs.ts'
import type { ResponseRecord } from '../../model/responses/response.ts'
import type { CallImage } from '../../model/responses/items/code-interpreter-call.ts'
import type { ResponseItem } from '../../model/responses/items/item-types.ts'

/** Images up to this many bytes in all are data URLs in the outputs of a response, in the order of its items. Later ones are links. */
const MAX_INLINE_BYTES = 3 * 1024 * 1024

/** The row with its request, items and inline images, as `renderResponse` needs it. `include` as in the request that asks for it. */
export async function loadForRendering(objects: ObjectStore, row: ResponseRecord, include: readonly string[]): Promise<ResponseRecord> {
  const whole = await loadResponse(objects, row)
  return { ...whole, items: await withInlineImages(objects, whole.items, { include }) }
}

/** The items with the data URLs of their images, which are never stored. `only`: those of the item at this index. */
export async function withInlineImages(
  objects: ObjectStore,
  items: readonly ResponseItem[],
  { include, only = null }: { readonly include: readonly string[]; readonly only?: number | null },
): Promise<readonly ResponseItem[]> {
  const inline = inlineImages(items, include)
  if (inline.size === 0) return items
  return Promise.all(
    items.map(async (item, index) => {
      if (item.type !== 'code_interpreter_call' || item.outcome === null || (only !== null && only !== index)) return item
      const images = await Promise.all(item.outcome.images.map((image) => (inline.has(image) ? withDataUrl(objects, image) : image)))
      return { ...item, outcome: { ...item.outcome, images } }
    }),
  )
}

export const hasInlineImages = (items: readonly ResponseItem[], include: readonly string[]): boolean =>
  inlineImages(items, include).size > 0

function inlineImages(items: readonly ResponseItem[], include: readonly string[]): ReadonlySet<CallImage> {
  const inline = new Set<CallImage>()
  if (!include.includes('code_interpreter_call.outputs')) return inline
  let left = MAX_INLINE_BYTES
  for (const image of items.flatMap((item) => (item.type === 'code_interpreter_call' ? (item.outcome?.images ?? []) : []))) {
    if (image.objectKey === undefined || image.bytes === undefined || image.bytes > left) continue
    left -= image.bytes
    inline.add(image)
  }
  return inline
}

async function withDataUrl(objects: ObjectStore, image: CallImage): Promise<CallImage> {
  const found = image.objectKey === undefined ? null : await objects.get(image.objectKey)
  if (found === null) return image
  return { ...image, dataUrl: `data:${image.mime};base64,${(await readBytes(found.body)).toString('base64')}` }
}
