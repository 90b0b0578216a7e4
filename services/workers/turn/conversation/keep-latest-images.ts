import type { Entry } from '../../../model/responses/items/entry.ts'

/** A request to a model carries the latest images of code, at most this many. */
const MAX_IMAGES = 4

/** Keeps the latest images of the results for a model that reads images, and none for another. */
export function keepLatestImages(entries: readonly Entry[], readsImages: boolean): Entry[] {
  let left = readsImages ? MAX_IMAGES : 0
  return entries
    .toReversed()
    .map((entry): Entry => {
      if (entry.kind !== 'result' || entry.images === undefined) return entry
      const { images, ...rest } = entry
      const kept = left === 0 ? [] : images.slice(-left)
      left -= kept.length
      return kept.length === 0 ? rest : { ...rest, images: kept }
    })
    .toReversed()
}
