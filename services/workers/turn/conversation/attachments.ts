import { createHash } from 'node:crypto'
import { normalizeFilePath } from '../../../model/files/file-path.ts'
import type { ResponseRequest } from '../../../model/responses/response.ts'

type Wire = Readonly<Record<string, unknown>>

/** A file that a message contains. */
export interface Attachment {
  /** Its name as a path, normalized. */
  readonly name: string
  /** Hex. */
  readonly sha256: string
  readonly bytes: number
  /** Decodes its content. */
  body(): Buffer
}

/** What identifies it: the same content under one name is one file. */
export const attachmentKey = ({ name, sha256 }: Pick<Attachment, 'name' | 'sha256'>): string => `${name}:${sha256}`

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

/** The files that the messages contain: `file_data` of an `input_file`, the data URL of an `input_image`. Each once, in their order. */
export function attachmentsIn(input: ResponseRequest['input']): readonly Attachment[] {
  const byKey = new Map([...attachmentParts(input).values()].map((attachment) => [attachmentKey(attachment), attachment]))
  return [...byKey.values()]
}

const read = new WeakMap<object, ReadonlyMap<Wire, Attachment>>()

/** The file of each part that contains one. The conversation is built several times from one request, so the hashes are kept with it. */
export function attachmentParts(input: ResponseRequest['input']): ReadonlyMap<Wire, Attachment> {
  if (typeof input === 'string') return new Map()
  const known = read.get(input)
  if (known !== undefined) return known
  const found = new Map<Wire, Attachment>()
  for (const part of input.flatMap(partsOf)) {
    const data = dataOf(part)
    if (data === null) continue
    const sha256 = createHash('sha256').update(data.body).digest('hex')
    const kind = part['type'] === 'input_image' ? 'image' : 'file'
    const name = pathOf(part['filename'], `${kind}-${found.size + 1}.${ENDINGS[data.mime] ?? 'bin'}`)
    found.set(part, { name, sha256, bytes: data.body.length, body: () => dataOf(part)?.body ?? Buffer.alloc(0) })
  }
  read.set(input, found)
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
