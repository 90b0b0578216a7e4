import type { ModelContentPart } from '../../../model/responses/model-content.ts'
import { decodeSummary } from '../../../model/responses/compaction.ts'
import type { ResponseRequest } from '../../../model/responses/response.ts'
import { trimText } from '../../../model/trim-text.ts'
import { itemTypeNamed } from '../../../model/responses/items/item-types.ts'
import { objectsIn, textOf, type Wire } from '../../../model/responses/items/item-type.ts'
import { attachmentKey, attachmentParts, imageUrl } from './attachments.ts'
import { decodeText } from './decode-text.ts'
import type { Entry } from '../../../model/responses/items/entry.ts'

/** Placeholder for the URL of an image that is a stored file; its content replaces it when the request is sent. */
const FILE_SCHEME = 'cellblock-file:'
export const imageFileId = (url: string): string | null => (url.startsWith(FILE_SCHEME) ? url.slice(FILE_SCHEME.length) : null)

/** A text file that a client sends inside a message is read up to this many characters. */
const MAX_FILE_CHARS = 50_000

/** The path in `/mnt/data` of a file that a request names by its id or contains; null without a container. */
export type PathOf = (key: string) => string | null

/** The client's input as entries. Items that models cannot use (references, reasoning, …) are skipped. */
export function inputEntries(input: ResponseRequest['input'], pathOf: PathOf = () => null): Entry[] {
  if (typeof input === 'string') return [{ kind: 'user', content: input }]
  const attachments = attachmentParts(input)
  const storedAt = (part: Wire): string | null => {
    const attachment = attachments.get(part)
    return pathOf(attachment === undefined ? textOf(part['file_id']) : attachmentKey(attachment))
  }
  return input.flatMap((item) => entriesOf(item, storedAt))
}

type StoredAt = (part: Wire) => string | null

function entriesOf(item: Wire, storedAt: StoredAt): Entry[] {
  switch (item['type'] ?? 'message') {
    case 'message':
      return messageEntries(item, storedAt)
    case 'compaction': {
      const summary = decodeSummary(item['encrypted_content'])
      return summary === null ? [] : [{ kind: 'user', content: summaryText(summary) }]
    }
    case 'apply_patch_call_output':
      return [{ kind: 'result', callId: textOf(item['call_id']), text: patchResult(item) }]
    case 'function_call_output':
      return [{ kind: 'result', callId: textOf(item['call_id']), text: outputText(item['output']) }]
    default:
      return itemTypeNamed(item['type'])?.inputEntries?.(item) ?? []
  }
}

const summaryText = (summary: string): string =>
  `[Not from the user: a summary of the conversation so far, which replaces all messages but the user's.]\n${summary}`

/** What the caller said about a patch that it applied, or could not apply. */
const patchResult = ({ status, output }: Wire): string =>
  [status === 'failed' ? 'The change failed.' : 'The change was applied.', textOf(output)].filter((text) => text !== '').join('\n')

function messageEntries(item: Wire, storedAt: StoredAt): Entry[] {
  const { role, content } = item
  if (role === 'assistant') {
    const said = partsOf(content)
      .map((part) => (part.type === 'text' ? part.text : ''))
      .join('')
    return said === '' ? [] : [{ kind: 'said', text: said }]
  }
  const parts = partsOf(content, storedAt)
  const isText = parts.every((part) => part.type === 'text')
  const joined = parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  if (role === 'system' || role === 'developer') return joined === '' ? [] : [{ kind: 'system', text: joined }]
  return [{ kind: 'user', content: isText ? joined : parts }]
}

function partsOf(content: unknown, storedAt: StoredAt = () => null): ModelContentPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return objectsIn(content).flatMap((part) => partOf(part, storedAt))
}

function partOf(part: Wire, storedAt: StoredAt): ModelContentPart[] {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return [{ type: 'text', text: textOf(part['text']) }]
    case 'refusal':
      return [{ type: 'text', text: textOf(part['refusal']) }]
    case 'input_image': {
      const url = imageUrl(part)
      if (typeof url === 'string') return [{ type: 'image', url }]
      const id = textOf(part['file_id'])
      return [id === '' ? { type: 'text', text: '[an image that cannot be read here]' } : { type: 'image', url: `${FILE_SCHEME}${id}` }]
    }
    case 'input_file':
      return [{ type: 'text', text: fileText(part, storedAt(part)) }]
    default:
      return []
  }
}

/** The text of a data URL, else a note that names the file: by the name that code finds, and by the client's if that is another one. */
function fileText(part: Wire, stored: string | null): string {
  const sent = textOf(part['filename'])
  const isRenamed = stored !== null && sent !== '' && stored !== sent
  const name = `${JSON.stringify((stored ?? sent) || 'file')}${isRenamed ? ` (sent as ${JSON.stringify(sent)})` : ''}`
  const note = `[the file ${name} was attached here; code finds it in /mnt/data]`
  const data = textOf(part['file_data'])
  // A file that is named by its id was copied into the container, if there is one.
  if (data === '' && textOf(part['file_id']) !== '') return note
  const comma = data.indexOf(',')
  const head = data.slice(0, Math.max(0, comma))
  if (/^data:(?:text\/|application\/json(?:;|$))/.test(head) && head.endsWith(';base64')) {
    const text = decodeText(Buffer.from(data.slice(comma + 1), 'base64'))
    return text === null ? note : `File ${name}:\n${trimText(text, MAX_FILE_CHARS)}`
  }
  if (data !== '' && (!data.startsWith('data:') || head.endsWith(';base64'))) return note
  return `[the file ${name} was attached here by its address, or broken: it cannot be read. Its content has to be sent]`
}

const outputText = (output: unknown): string =>
  typeof output === 'string'
    ? output
    : Array.isArray(output)
      ? partsOf(output)
          .map((part) => (part.type === 'text' ? part.text : '[a picture]'))
          .join('\n')
      : JSON.stringify(output ?? '')
