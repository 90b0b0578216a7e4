import { trimText } from '../../../model/trim-text.ts'
import { shortenEntries } from './shorten-entries.ts'
import { estimateTokens, tokensOf, type TokenMeter } from './tokens.ts'
import type { Entry } from '../../../model/responses/items/entry.ts'

/** Length of head and tail of a truncated old result, characters. */
const TRIMMED_RESULT = 400
/** Size of the note about omitted turns, tokens. */
const REMARK_TOKENS = 64

/** The omitted parts of a conversation that exceeds the model's context window. All zero: none. */
export interface WindowCut {
  /** Tool results of which only head and tail were sent. */
  readonly trimmedResults: number
  /** Omitted turns, each with the user's message and the whole answer. */
  readonly droppedTurns: number
  /** Omitted tool calls of the present turn, with their results. */
  readonly droppedCalls: number
  /** Other texts that were too long; head and tail were sent. */
  readonly shortenedTexts: number
}

export interface Fitted {
  readonly entries: readonly Entry[]
  readonly cut: WindowCut
}

const NOTHING: WindowCut = { trimmedResults: 0, droppedTurns: 0, droppedCalls: 0, shortenedTexts: 0 }

/**
 * Truncates a conversation in this order, as far as needed: tool results are cut to head and tail without their images, oldest first; the oldest turns are removed whole; the
 * oldest calls of the present turn are removed with their results; the rest is shortened, longest texts first. System texts, the user's last message and
 * the latest result stay, at least in part. A note names what is missing.
 */
export function fitWindow(entries: readonly Entry[], budget: number, meter: TokenMeter): Fitted {
  if (estimateTokens(entries, meter) <= budget) return { entries, cut: NOTHING }
  const trimmed = trimResults(entries, budget, meter)
  if (estimateTokens(trimmed.entries, meter) <= budget)
    return { entries: trimmed.entries, cut: { ...NOTHING, trimmedResults: trimmed.count } }
  const available = budget - REMARK_TOKENS
  const turns = dropTurns(trimmed.entries, available, meter)
  const calls = dropCalls(turns.kept, available, meter)
  const short = shortenEntries(calls.kept, available, meter)
  return {
    entries: withRemark(short.entries, turns.dropped, calls.dropped),
    cut: {
      trimmedResults: countTrimmed(entries, calls.kept),
      droppedTurns: turns.dropped,
      droppedCalls: calls.dropped,
      shortenedTexts: short.count,
    },
  }
}

function trimResults(
  entries: readonly Entry[],
  budget: number,
  meter: TokenMeter,
): { readonly entries: readonly Entry[]; readonly count: number } {
  const result = [...entries]
  let over = estimateTokens(entries, meter) - budget
  let count = 0
  // The model continues from the latest result.
  const latest = result.findLastIndex((entry) => entry.kind === 'result')
  for (const [index, entry] of result.entries()) {
    if (over <= 0) break
    if (entry.kind !== 'result' || index === latest) continue
    const shorter: Entry = { kind: 'result', callId: entry.callId, text: trimText(entry.text, TRIMMED_RESULT) }
    const saved = tokensOf(entry, meter) - tokensOf(shorter, meter)
    if (saved <= 0) continue
    over -= saved
    count += 1
    result[index] = shorter
  }
  return { entries: result, count }
}

/** A turn starts with a message of the user and ends before the next one. It is removed whole, so no call loses its result. */
function dropTurns(
  entries: readonly Entry[],
  budget: number,
  meter: TokenMeter,
): { readonly kept: readonly Entry[]; readonly dropped: number } {
  const system = entries.filter((entry) => entry.kind === 'system')
  const turns: Entry[][] = []
  for (const entry of entries) {
    if (entry.kind === 'system') continue
    if (entry.kind === 'user' || turns.length === 0) turns.push([])
    turns.at(-1)?.push(entry)
  }
  // Each turn is measured once, because a client may send hundreds of thousands of turns.
  let left = estimateTokens(system, meter) + estimateTokens(turns.flat(), meter)
  const firstKept = turns.findIndex((turn, index) => {
    if (left <= budget || index === turns.length - 1) return true
    left -= estimateTokens(turn, meter)
    return false
  })
  const dropped = Math.max(0, firstKept)
  return { kept: [...system, ...turns.slice(dropped).flat()], dropped }
}

/** Removes the oldest calls of the only remaining turn, each with its results and the text before it. The latest call stays. */
function dropCalls(
  entries: readonly Entry[],
  budget: number,
  meter: TokenMeter,
): { readonly kept: readonly Entry[]; readonly dropped: number } {
  const latest = entries.findLastIndex((entry) => entry.kind === 'call')
  const resultsOf = pairResults(entries)
  const gone = new Set<Entry>()
  let left = estimateTokens(entries, meter)
  let dropped = 0
  for (const entry of entries.slice(0, Math.max(0, latest))) {
    if (left <= budget) break
    if (entry.kind !== 'said' && entry.kind !== 'call') continue
    for (const one of entry.kind === 'call' ? [entry, ...(resultsOf.get(entry) ?? [])] : [entry]) {
      gone.add(one)
      left -= tokensOf(one, meter)
    }
    if (entry.kind === 'call') dropped += 1
  }
  return { kept: entries.filter((entry) => !gone.has(entry)), dropped }
}

/** Pairs each call with its result. If an endpoint gives every call the same id, they are paired by order. */
function pairResults(entries: readonly Entry[]): ReadonlyMap<Entry, readonly Entry[]> {
  const waiting = new Map<string, { readonly calls: Entry[]; answered: number }>()
  const pairs = new Map<Entry, readonly Entry[]>()
  for (const entry of entries) {
    if (entry.kind === 'call') {
      const same = waiting.get(entry.call.id)
      if (same === undefined) waiting.set(entry.call.id, { calls: [entry], answered: 0 })
      else same.calls.push(entry)
    } else if (entry.kind === 'result') {
      const same = waiting.get(entry.callId)
      const call = same?.calls[same.answered]
      if (same === undefined || call === undefined) continue
      same.answered += 1
      pairs.set(call, [entry])
    }
  }
  return pairs
}

const countTrimmed = (before: readonly Entry[], after: readonly Entry[]): number => {
  const untouched = new Set(before)
  return after.filter((entry) => entry.kind === 'result' && !untouched.has(entry)).length
}

/** The note is part of the system text, because many endpoints accept only one system message. */
function withRemark(entries: readonly Entry[], turns: number, calls: number): readonly Entry[] {
  const parts = [
    ...(turns > 0 ? [`${turns} earlier ${turns === 1 ? 'turn' : 'turns'} of this conversation`] : []),
    ...(calls > 0 ? [`${calls} earlier tool ${calls === 1 ? 'call' : 'calls'} of this answer`] : []),
  ]
  if (parts.length === 0) return entries
  const remark = `[${parts.join(' and ')} left out: too long for the model. Variables and files of code that ran are still there.]`
  const [first, ...rest] = entries
  if (first?.kind === 'system') return [{ ...first, text: `${first.text}\n\n${remark}` }, ...rest]
  return [{ kind: 'system', text: remark }, ...entries]
}
