import { isId } from '../../core/ids.ts'
import type { FileSource } from '../../core/files/file-source.ts'
import { sourceOf } from '../../core/files/file-source.ts'
import type { ModelContentPart } from '../../core/ports/chat-model.ts'
import { readBytes } from '../../core/read-bytes.ts'
import type { ResponseRecord } from '../../core/responses/response.ts'
import { hasExpired } from '../../core/files/user-file.ts'
import type { Entry } from '../conversation/entry.ts'
import { imageFileId } from '../conversation/input-entries.ts'
import type { TurnDeps } from '../deps.ts'

/** The formats that models read, and the maximum size of an image, bytes. */
const FORMATS: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
const MAX_BYTES = 5 * 1024 * 1024

/** Fills in the images that messages name by a file's id, for endpoints that cannot fetch them. Text replaces an image that cannot be sent. */
export function loadInputImages(deps: TurnDeps, row: ResponseRecord, entries: readonly Entry[]): Promise<readonly Entry[]> {
  return Promise.all(
    entries.map(async (entry) => {
      if (entry.kind !== 'user' || typeof entry.content === 'string') return entry
      return { ...entry, content: await Promise.all(entry.content.map((part) => load(deps, row, part))) }
    }),
  )
}

async function load(deps: TurnDeps, row: ResponseRecord, part: ModelContentPart): Promise<ModelContentPart> {
  const id = part.type === 'image' ? imageFileId(part.url) : null
  if (id === null) return part
  const file = await imageOf(deps, row, id)
  const object = file === null ? null : await deps.objects.get(file.objectKey)
  if (file === null || object === null)
    return { type: 'text', text: '[an image was attached here that cannot be shown; code may find it in /mnt/data]' }
  return { type: 'image', url: `data:${file.mime};base64,${(await readBytes(object.body)).toString('base64')}` }
}

/** Only what the end user behind the request may see: an item of a conversation may name any id. */
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
  return file !== null && FORMATS.includes(file.mime) && file.bytes <= MAX_BYTES ? file : null
}
