import type { WireItem } from '../api/types.ts'
import { newAnswer, newRun, partOf, textOf, type Entry, type MessageFile } from './timeline.ts'

const INPUT_ID = /^msg_([0-9a-z]{26})_\d+$/
/** The text part of a message that names its files begins so. */
export const ATTACHED = 'Attached in /mnt/data: '

/** The response whose input has this id; null for an item that a client added. */
export const responseIdOf = (itemId: string | undefined): string | null => {
  const found = INPUT_ID.exec(itemId ?? '')?.[1]
  return found === undefined ? null : `resp_${found}`
}
/** The part of an id that sorts by time; empty when there is none. */
export const ulidOf = (id: string | null): string => /_([0-9a-z]{26})/.exec(id ?? '')?.[1] ?? ''

/** The items of a conversation as entries: what a person said or ran, and what followed. */
export function entriesOf(items: readonly WireItem[]): Entry[] {
  const entries: Entry[] = []
  let responseId: string | null = null
  for (const [at, item] of items.entries()) {
    const key = item.id ?? `item-${at}`
    const own = ownEntry(item, key)
    if (own !== null) {
      entries.push(...own)
      responseId = responseIdOf(item.id)
      continue
    }
    const last = entries.at(-1)
    const part = partOf(item)
    if (last?.kind === 'answer' && last.status === 'completed') entries[entries.length - 1] = { ...last, parts: [...last.parts, part] }
    else entries.push({ ...newAnswer(key), responseId, status: 'completed', parts: [part] })
  }
  return entries
}

/** The entries of an item that a person or the page added; null for a part of an answer. */
function ownEntry(item: WireItem, key: string): readonly Entry[] | null {
  const id = item.id ?? null
  if (item.type === 'x_cellblock_refused')
    return [
      { kind: 'user', key: `${key}-text`, id, text: item.text ?? '', attachments: [] },
      { ...newAnswer(key), status: 'failed', error: item.error ?? null },
    ]
  if (item.type === 'message' && item.role === 'user') return [{ kind: 'user', key, id, ...messageOf(item.content) }]
  if (item.type === 'message' && item.role !== 'assistant') return [{ kind: 'notice', key, id, text: textOf(item.content) }]
  if (item.type !== 'code_interpreter_call' || item.x_cellblock?.source !== 'user') return null
  const { execution_id: executionId, status, language = 'python', place } = item.x_cellblock
  const logs = item.outputs?.map(({ logs: text = '' }) => text).join('') ?? ''
  return [
    {
      kind: 'cell',
      key,
      id,
      ...(place !== undefined && { place }),
      run: { ...newRun(item.code ?? '', executionId === null ? status : 'unknown'), language, executionId, logs },
    },
  ]
}

/** The text of a message without the line that names its files, and those files. */
function messageOf(content: Extract<WireItem, { readonly type: 'message' }>['content']): {
  readonly text: string
  readonly attachments: readonly MessageFile[]
} {
  if (typeof content === 'string') return { text: content, attachments: [] }
  const names = content.find(({ text = '' }, at) => at > 0 && text.startsWith(ATTACHED))
  const pictures = content.flatMap(({ image_url: url }) => (url?.startsWith('data:image/') === true ? [url] : []))
  const isPicture = (name: string): boolean => /\.(?:png|jpe?g|gif|webp)$/i.test(name)
  let used = 0
  const attachments = (names?.text ?? '')
    .slice(ATTACHED.length)
    .split(', ')
    .filter((name) => name !== '')
    .map((name) => ({ name, picture: isPicture(name) ? (pictures[used++] ?? null) : null }))
  return { text: textOf(content.filter((part) => part !== names && part.type !== 'input_image')), attachments }
}
