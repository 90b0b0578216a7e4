import { isId } from '../../model/ids.ts'
import type { FileSource } from '../../operations/files/file-source.ts'
import { sourceOf } from '../../operations/files/file-source.ts'
import type { ModelContentPart } from '../../model/responses/model-content.ts'
import { readBytes } from '../../model/read-bytes.ts'
import type { ResponseRecord } from '../../model/responses/response.ts'
import { hasExpired } from '../../model/files/user-file.ts'
import { imageFileId } from './conversation/input-entries.ts'
import { IMAGE_FORMATS } from '../../model/responses/items/result-entry.ts'
import type { TurnDeps } from './deps.ts'
import type { Entry, ResultImage } from '../../model/responses/items/entry.ts'

/** The maximum size of an image in a message, bytes. */
const MAX_BYTES = 5 * 1024 * 1024

/**
 * Fills in the images of results, and those that messages name by a file's id, because endpoints cannot fetch them. Text replaces an image of a message
 * that cannot be sent; such an image of a result is omitted.
 */
export function loadImages(deps: TurnDeps, row: ResponseRecord, entries: readonly Entry[]): Promise<readonly Entry[]> {
  return Promise.all(
    entries.map(async (entry) => {
      if (entry.kind === 'result' && entry.images !== undefined)
        return { ...entry, images: await Promise.all(entry.images.map((image) => loadResultImage(deps, row, image))) }
      if (entry.kind !== 'user' || typeof entry.content === 'string') return entry
      return { ...entry, content: await Promise.all(entry.content.map((part) => load(deps, row, part))) }
    }),
  )
}

async function load(deps: TurnDeps, row: ResponseRecord, part: ModelContentPart): Promise<ModelContentPart> {
  const id = part.type === 'image' ? imageFileId(part.url) : null
  if (id === null) return part
  const url = await fileUrl(deps, row, id)
  if (url === null) return { type: 'text', text: '[an image was attached here that cannot be shown; code may find it in /mnt/data]' }
  return { type: 'image', url }
}

async function loadResultImage(deps: TurnDeps, row: ResponseRecord, { source }: ResultImage): Promise<ResultImage> {
  return { source, url: 'fileId' in source ? await fileUrl(deps, row, source.fileId) : await objectUrl(deps, source) }
}

async function fileUrl(deps: TurnDeps, row: ResponseRecord, id: string): Promise<string | null> {
  const file = await imageOf(deps, row, id)
  return file === null ? null : objectUrl(deps, file)
}

async function objectUrl(
  { objects }: TurnDeps,
  { objectKey, mime }: { readonly objectKey: string; readonly mime: string },
): Promise<string | null> {
  const object = await objects.get(objectKey)
  return object === null ? null : `data:${mime};base64,${(await readBytes(object.body)).toString('base64')}`
}

/** Only files that the end user may see, because an item of a conversation may name any id. */
async function imageOf({ table, clock }: TurnDeps, { tenant, subject }: ResponseRecord, id: string): Promise<FileSource | null> {
  const isVisible = (owner: { readonly subject: string | null } | null): boolean =>
    owner !== null && (subject === null || owner.subject === subject)
  let file: FileSource | null = null
  if (isId('file', id)) {
    const own = await table.userFiles.get(tenant, id)
    file = own !== null && isVisible(own) && !hasExpired(own, clock.now()) ? sourceOf(own) : null
  } else if (isId('containerFile', id)) {
    const found = await table.files.find(tenant, id)
    const isThere = found?.state === 'stored' && isVisible(await table.containers.get(tenant, found.containerId))
    file = isThere ? found : null
  }
  return file !== null && IMAGE_FORMATS.includes(file.mime) && file.bytes <= MAX_BYTES ? file : null
}
