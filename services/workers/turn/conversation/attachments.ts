import { createHash } from 'node:crypto'
import { normalizeFilePath } from '../../../model/files/file-path.ts'
import { mimeOf } from '../../../model/files/mime.ts'
import type { ResponseRequest } from '../../../model/responses/response.ts'

type Wire = Readonly<Record<string, unknown>>

/** A file that a message contains, with its path in `/mnt/data`. */
export interface Attachment {
  readonly path: string
  readonly mime: string
  /** Hex. */
  readonly sha256: string
  readonly body: Buffer
}

const ENDINGS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'text/plain': 'txt',
  'application/json': 'json',
}

/** The files that the messages contain: `file_data` of an `input_file`, the data URL of an `input_image`. Each path occurs once. */
export function attachmentsIn(input: ResponseRequest['input']): readonly Attachment[] {
  if (typeof input === 'string') return []
  const taken = new Map<string, string>()
  const found: Attachment[] = []
  for (const part of input.flatMap(partsOf)) {
    const data = dataOf(part)
    if (data === null) continue
    const sha256 = createHash('sha256').update(data.body).digest('hex')
    const kind = part['type'] === 'input_image' ? 'image' : 'file'
    const wanted = pathOf(part['filename'], `${kind}-${found.length + 1}.${ENDINGS[data.mime] ?? 'bin'}`)
    // The same content counts once; other content under the same name gets a number.
    if (taken.get(wanted) === sha256) continue
    const path = taken.has(wanted) ? `${found.length + 1}-${wanted}` : wanted
    taken.set(path, sha256)
    found.push({ path, sha256, mime: mimeOf(path), body: data.body })
  }
  return found
}

/** The content of a data URL or of plain base64; null for other text. */
function dataOf(part: Wire): { readonly mime: string; readonly body: Buffer } | null {
  const raw = part['type'] === 'input_file' ? part['file_data'] : part['type'] === 'input_image' ? imageUrl(part) : null
  if (typeof raw !== 'string' || raw === '') return null
  if (!raw.startsWith('data:')) return part['type'] === 'input_file' ? { mime: '', body: Buffer.from(raw, 'base64') } : null
  const comma = raw.indexOf(',')
  if (comma < 0 || !raw.slice(0, comma).endsWith(';base64')) return null
  const mime = raw.slice('data:'.length, comma).split(';')[0] ?? ''
  return { mime, body: Buffer.from(raw.slice(comma + 1), 'base64') }
}

export function imageUrl(part: Wire): unknown {
  const url = part['image_url']
  return typeof url === 'object' && url !== null ? (url as Wire)['url'] : url
}

/** The client's file name without folders; a generated one if it is not valid. */
function pathOf(name: unknown, otherwise: string): string {
  try {
    return normalizeFilePath(typeof name === 'string' ? (name.split(/[\\/]/).pop() ?? '') : '')
  } catch {
    return otherwise
  }
}

const partsOf = (item: Wire): readonly Wire[] =>
  Array.isArray(item['content'])
    ? (item['content'] as unknown[]).filter((part): part is Wire => typeof part === 'object' && part !== null)
    : []
