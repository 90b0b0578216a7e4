import type { LinkedFile } from '../linked-file.ts'
import type { Entry, ResultImage } from './entry.ts'

/** The formats that models read. */
export const IMAGE_FORMATS: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
const MAX_BYTES = 2 * 1024 * 1024

interface ShownImage {
  readonly mime: string
  readonly objectKey?: string
  readonly bytes?: number
}
interface ResultParts {
  readonly images: readonly ShownImage[]
  readonly files: readonly LinkedFile[]
}

/** The result of a call with its images. Files count only if the code showed no image, because plots are often both shown and saved. */
export function resultEntry(callId: string, text: string, parts: ResultParts): Entry {
  const images = resultImages(parts)
  return { kind: 'result', callId, text, ...(images.length === 0 ? {} : { images }) }
}

function resultImages({ images, files }: ResultParts): readonly ResultImage[] {
  if (images.length > 0)
    return images.flatMap(({ objectKey, mime, bytes }): ResultImage[] =>
      objectKey === undefined || bytes === undefined || bytes > MAX_BYTES ? [] : [{ source: { objectKey, mime }, url: null }],
    )
  return files
    .filter(({ mime, bytes }) => IMAGE_FORMATS.includes(mime) && bytes <= MAX_BYTES)
    .map(({ id }) => ({ source: { fileId: id }, url: null }))
}
