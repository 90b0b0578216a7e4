import { isId } from '../../core/ids.ts'
import type { FileSource } from '../../core/files/file-source.ts'
import { sourceOf } from '../../core/files/file-source.ts'
import type { ModelContentPart } from '../../core/ports/chat-model.ts'
import { readBytes } from '../../core/read-bytes.ts'
import type { ResponseRecord } from '../../core/responses/response.ts'
import { hasExpired } from '../../core/files/user-file.ts'
import type { Entry } from '../conversation/entry.ts'
import { pictureId } from '../conversation/input-entries.ts'
import type { TurnDeps } from '../deps.ts'

/** What models read, and how big one may be, bytes. */
const READABLE: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
const MAX_BYTES = 5 * 1024 * 1024

/** Fills in the pictures that messages name by a file's id, for endpoints that cannot fetch them. One that cannot be shown is named in words. */
export function showPictures(deps: TurnDeps, row: ResponseRecord, entries: readonly Entry[]): Promise<readonly Entry[]> {
  return Promise.all(
    entries.map(async (entry) => {
      if (entry.kind !== 'user' || typeof entry.content === 'string') return entry
      return { ...entry, content: await Promise.all(entry.content.map((part) => show(deps, row, part))) }
    }),
  )
}

async function show(deps: TurnDeps, row: ResponseRecord, part: ModelContentPart): Promise<ModelContentPart> {
  const id = part.type === 'image' ? pictureId(part.url) : null
  if (id === null) return part
  const file = await pictureOf(deps, row, id)
  const object = file === null ? null : await deps.objects.get(file.objectKey)
  if (file === null || object === null)
    return { type: 'text', text: '[a picture was attached here that cannot be shown; code may find it in /mnt/data]' }
  return { type: 'image', url: `data:${file.mime};base64,${(await readBytes(object.body)).toString('base64')}` }
}

/** Only what the end user behind the request may see: an item of a conversation may name any id. */
async function pictureOf({ table, clock }: TurnDeps, { tenant, subject }: ResponseRecord, id: string): Promise<FileSource | null> {
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
  return file !== null && READABLE.includes(file.mime) && file.bytes <= MAX_BYTES ? file : null
}
