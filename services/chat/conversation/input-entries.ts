import type { ModelContentPart } from '../../core/ports/chat-model.ts'
import type { ResponseRequest } from '../../core/responses/response.ts'
import { trimText } from '../../core/trim-text.ts'
import { PYTHON } from '../tools/python.ts'
import { WEB_SEARCH } from '../tools/web-search.ts'
import { imageUrl } from './attachments.ts'
import type { Entry } from './entry.ts'

type Wire = Readonly<Record<string, unknown>>

/** Stands for the URL of an image that is a stored file: its content is filled in when it is sent. */
const FILE_SCHEME = 'cellblock-file:'
export const imageFileId = (url: string): string | null => (url.startsWith(FILE_SCHEME) ? url.slice(FILE_SCHEME.length) : null)

/** A text file that a client sends inside a message is read up to this many characters. */
const MAX_FILE_CHARS = 50_000

/** The caller's input as entries. Items of kinds that no model here can use (references, reasoning, …) are passed over. */
export function inputEntries(input: ResponseRequest['input']): Entry[] {
  if (typeof input === 'string') return [{ kind: 'user', content: input }]
  return input.flatMap(entriesOf)
}

function entriesOf(item: Wire): Entry[] {
  switch (item['type'] ?? 'message') {
    case 'message':
      return messageEntries(item)
    case 'function_call':
      return [
        {
          kind: 'call',
          call: { id: text(item['call_id'] ?? item['id']), name: text(item['name']), arguments: text(item['arguments']) || '{}' },
        },
      ]
    case 'function_call_output':
      return [{ kind: 'result', callId: text(item['call_id']), text: outputText(item['output']) }]
    case 'code_interpreter_call': {
      const callId = text(item['call_id'] ?? item['id'])
      const logs = objectsIn(item['outputs']).map((output) =>
        output['type'] === 'logs' ? text(output['logs']) : '[a picture was shown to the user]',
      )
      return [
        { kind: 'call', call: { id: callId, name: PYTHON, arguments: JSON.stringify({ code: text(item['code']) }) } },
        { kind: 'result', callId, text: logs.join('\n') || '(its output was not kept)' },
      ]
    }
    case 'web_search_call': {
      const callId = text(item['id'])
      const action = item['action'] as Wire | undefined
      const extra = item['x_cellblock'] as Wire | undefined
      return [
        { kind: 'call', call: { id: callId, name: WEB_SEARCH, arguments: JSON.stringify({ query: text(action?.['query']) }) } },
        { kind: 'result', callId, text: text(extra?.['output']) || '(its results were not kept)' },
      ]
    }
    default:
      return []
  }
}

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
      return [{ type: 'text', text: text(part['text']) }]
    case 'refusal':
      return [{ type: 'text', text: text(part['refusal']) }]
    case 'input_image': {
      const url = imageUrl(part)
      if (typeof url === 'string') return [{ type: 'image', url }]
      const id = text(part['file_id'])
      return [id === '' ? { type: 'text', text: '[an image that cannot be read here]' } : { type: 'image', url: `${FILE_SCHEME}${id}` }]
    }
    case 'input_file':
      return [{ type: 'text', text: fileText(part) }]
    default:
      return []
  }
}

/** Text inside a data URL, else a remark that names the file. */
function fileText(part: Wire): string {
  const name = JSON.stringify(text(part['filename']) || 'file')
  const data = text(part['file_data'])
  // What is named by its id was copied into the container, where there is one.
  if (data === '' && text(part['file_id']) !== '') return `[the file ${name} was attached here; code finds it in /mnt/data]`
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
/** Clients send what they like; what is no object says nothing. */
const objectsIn = (value: unknown): Wire[] =>
  Array.isArray(value) ? (value as unknown[]).filter((one): one is Wire => typeof one === 'object' && one !== null) : []
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
