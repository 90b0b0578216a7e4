import { trimText } from '../../../model/trim-text.ts'
import { estimateTokens, type TokenMeter } from './tokens.ts'
import type { Entry } from '../../../model/responses/items/entry.ts'

/** Maximum length of the note between head and tail of a truncated text, characters. */
const REMARK_CHARS = 48
const ELLIPSIS = '…'
/** Calls and results are not shortened below this before other texts are, characters. */
const MIN_OF_TOOL = 400

/**
 * Shortens the longest texts, tool calls and results first, then all, until the entries fit. Then images are left out, the oldest
 * first, then calls. The user's last message stays, if only as an ellipsis.
 */
export function shortenEntries(
  entries: readonly Entry[],
  budget: number,
  meter: TokenMeter,
): { readonly entries: readonly Entry[]; readonly count: number } {
  if (estimateTokens(entries, meter) <= budget) return { entries, count: 0 }
  const fits = (list: readonly Entry[]): boolean => estimateTokens(list, meter) <= budget
  const tools = longestThatFits((max) => entries.map((entry) => (isOfTool(entry) ? shorten(entry, max) : entry)), fits, {
    entries,
    min: MIN_OF_TOOL,
  })
  if (tools !== null) return counted(entries, tools)
  const bare = withoutImages(entries)
  const all = longestThatFits((max) => bare.map((entry) => shorten(entry, max)), fits, { entries: bare })
  if (all !== null) return counted(entries, all)
  const last = bare.findLast((entry) => entry.kind === 'user')
  const few = [...bare.filter((entry) => entry.kind === 'system'), ...(last === undefined ? [] : [last])]
  return counted(
    entries,
    longestThatFits((max) => few.map((entry) => shorten(entry, max)), fits, { entries: few }) ?? few.map((entry) => shorten(entry, 0)),
  )
}

const isOfTool = (entry: Entry): boolean => entry.kind === 'call' || entry.kind === 'result'

/** With the largest limit on a text under which everything fits; null when nothing fits. */
function longestThatFits(
  at: (max: number) => readonly Entry[],
  fits: (entries: readonly Entry[]) => boolean,
  { entries, min = 0 }: { readonly entries: readonly Entry[]; readonly min?: number },
): readonly Entry[] | null {
  let low = min
  let high = entries.reduce((longest, entry) => Math.max(longest, lengthOf(entry)), min)
  let best = at(min)
  if (!fits(best)) return null
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const tried = at(middle)
    if (fits(tried)) {
      best = tried
      low = middle
    } else high = middle - 1
  }
  return best
}

function lengthOf(entry: Entry): number {
  if (entry.kind === 'call') return entry.call.arguments.length
  if (entry.kind !== 'user') return entry.text.length
  if (typeof entry.content === 'string') return entry.content.length
  return Math.max(0, ...entry.content.map((part) => (part.type === 'text' ? part.text.length : 0)))
}

function shorten(entry: Entry, max: number): Entry {
  if (lengthOf(entry) <= max) return entry
  switch (entry.kind) {
    case 'call':
      return { ...entry, call: { ...entry.call, arguments: shortArguments(entry.call.arguments, max) } }
    case 'user':
      if (typeof entry.content === 'string') return { ...entry, content: cut(entry.content, max) }
      return { ...entry, content: entry.content.map((part) => (part.type === 'text' ? { ...part, text: cut(part.text, max) } : part)) }
    default:
      return { ...entry, text: cut(entry.text, max) }
  }
}

const cut = (text: string, max: number): string => {
  if (text.length <= max) return text
  return max <= REMARK_CHARS ? ELLIPSIS : trimText(text, max - REMARK_CHARS)
}

/** Shortens long strings in arguments, which stay valid JSON of the same form. */
function shortArguments(json: string, max: number): string {
  try {
    const args = JSON.parse(json) as unknown
    const short = JSON.stringify(args, (_, value: unknown) => (typeof value === 'string' ? cut(value, Math.floor(max / 2)) : value))
    return short.length <= max ? short : '{}'
  } catch {
    return '{}'
  }
}

const withoutImages = (entries: readonly Entry[]): readonly Entry[] =>
  entries.map((entry) => {
    if (entry.kind === 'result' && entry.images !== undefined) return { kind: 'result', callId: entry.callId, text: entry.text }
    if (entry.kind !== 'user' || typeof entry.content === 'string') return entry
    // The words come first, because a further cut keeps the head of the text.
    const words = entry.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
    const pictures = entry.content.flatMap((part) => (part.type === 'text' ? [] : ['[a picture was left out: too long for the model]']))
    return { ...entry, content: [...words, ...pictures].join('\n') }
  })

const counted = (before: readonly Entry[], after: readonly Entry[]) => {
  const untouched = new Set(before)
  return { entries: after, count: after.filter((entry) => !untouched.has(entry)).length + Math.max(0, before.length - after.length) }
}
