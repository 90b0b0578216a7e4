import type { ModelContentPart } from '../../../model/responses/model-content.ts'
import { decodeSummary } from '../../../model/responses/compaction.ts'
import type { ResponseRequest } from '../../../model/responses/response.ts'
import { trimText } from '../../../model/trim-text.ts'
import { itemTypeNamed } from '../../../model/responses/items/item-types.ts'
import { objectsIn, textOf, type Wire } from '../../../model/responses/items/item-type.ts'
import { imageUrl } from './attachments.ts'
import type { Entry } from '../../../model/responses/items/entry.ts'

/** Placeholder for the URL of an image that is a stored file; its content replaces it when the request is sent. */
const FILE_SCHEME = 'cellblock-file:'
export const imageFileId = (url: string): string | null => (url.startsWith(FILE_SCHEME) ? url.slice(FILE_SCHEME.length) : null)

/** A text file that a client sends inside a message is read up to this many characters. */
const MAX_FILE_CHARS = 50_000

/** The client's input as entries. Items that models cannot use (references, reasoning, …) are skipped. */
export function inputEntries(input: ResponseRequest['input']): Entry[] {
  if (typeof input === 'string') return [{ kind: 'user', content: input }]
  return input.flatMap(entriesOf)
}

function entriesOf(item: Wire): Entry[] {
  switch (item['type'] ?? 'message') {
    case 'message':
      return messageEntries(item)
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

function messageEntries(item: Wire): Entry[] {
  const { role, content } = item
  if (role === 'assistant') {
    const said = partsOf(content)
      .map((part) => (part.type === 'text' ? part.text : ''))
      .join('')
    return said === '' ? [] : [{ kind: 'said', text: said }]
  }
  const parts = partsOf(content)
  const isText = parts.every((part) => part.type === 'text')
  const joined = parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  if (role === 'system' || role === 'developer') return joined === '' ? [] : [{ kind: 'system', text: joined }]
  return [{ kind: 'user', content: isText ? joined : parts }]
}

function partsOf(content: unknown): ModelContentPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return objectsIn(content).flatMap(partOf)
}

function partOf(part: Wire): ModelContentPart[] {
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
      return [{ type: 'text', text: fileText(part) }]
    default:
      return []
  }
}

/** The text of a data URL, else a note that names the file. */
function fileText(part: Wire): string {
  const name = JSON.stringify(textOf(part['filename']) || 'file')
  const data = textOf(part['file_data'])
  // A file that is named by its id was copied into the container, if there is one.
  if (data === '' && textOf(part['file_id']) !== '') return `[the file ${name} was attached here; code finds it in /mnt/data]`
  const comma = data.indexOf(',')
  const head = data.slice(0, Math.max(0, comma))
  const isText = /^data:(?:text\/|application\/json(?:;|$))/.test(head) && head.endsWith(';base64')
  if (isText) return `File ${name}:\n${trimText(Buffer.from(data.slice(comma + 1), 'base64').toString('utf8'), MAX_FILE_CHARS)}`
  if (data !== '' && (!data.startsWith('data:') || head.endsWith(';base64')))
    return `[the file ${name} was attached here; code finds it in /mnt/data]`
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
