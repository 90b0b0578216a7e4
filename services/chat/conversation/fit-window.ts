import { trimText } from '../outcome/trim-text.ts'
import type { Entry } from './entry.ts'

const TRIMMED_RESULT = 400
const TRIMMED_LATEST_RESULT = 2_000
const TOKENS_PER_IMAGE = 1_000
const TOKENS_PER_ENTRY = 6

/** A rough count: four bytes of UTF-8 to a token. */
export function estimateTokens(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + TOKENS_PER_ENTRY + tokensOf(entry), 0)
}

function tokensOf(entry: Entry): number {
  switch (entry.kind) {
    case 'user':
      return typeof entry.content === 'string'
        ? textTokens(entry.content)
        : entry.content.reduce((sum, part) => sum + (part.type === 'text' ? textTokens(part.text) : TOKENS_PER_IMAGE), 0)
    case 'call':
      return textTokens(entry.call.name) + textTokens(entry.call.arguments)
    default:
      return textTokens(entry.text)
  }
}

const textTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4)

/**
 * Makes a conversation fit: first the results of tools are trimmed, the oldest first, then the oldest turns go. System texts and the turn
 * that is being answered always stay.
 */
export function fitWindow(entries: readonly Entry[], budget: number): Entry[] {
  if (estimateTokens(entries) <= budget) return [...entries]
  const trimmed = trimResults(entries, budget)
  if (estimateTokens(trimmed) <= budget) return trimmed
  const kept = dropTurns(trimmed, budget)
  if (estimateTokens(kept) <= budget) return kept
  return kept.map((entry) => (entry.kind === 'result' ? { ...entry, text: trimText(entry.text, TRIMMED_LATEST_RESULT) } : entry))
}

function trimResults(entries: readonly Entry[], budget: number): Entry[] {
  const result = [...entries]
  let over = estimateTokens(entries) - budget
  // The latest result is what the model has to go on from.
  const latest = result.findLastIndex((entry) => entry.kind === 'result')
  for (const [index, entry] of result.entries()) {
    if (over <= 0) break
    if (entry.kind !== 'result' || index === latest) continue
    const shorter = { ...entry, text: trimText(entry.text, TRIMMED_RESULT) }
    over -= tokensOf(entry) - tokensOf(shorter)
    result[index] = shorter
  }
  return result
}

/** A turn begins with what the user says and goes with everything up to the next such place, so no call loses its result. */
function dropTurns(entries: readonly Entry[], budget: number): Entry[] {
  const system = entries.filter((entry) => entry.kind === 'system')
  const turns: Entry[][] = []
  for (const entry of entries) {
    if (entry.kind === 'system') continue
    if (entry.kind === 'user' || turns.length === 0) turns.push([])
    turns.at(-1)?.push(entry)
  }
  // Each turn is counted once: a caller may send hundreds of thousands of them.
  let left = estimateTokens(system) + estimateTokens(turns.flat())
  const firstKept = turns.findIndex((turn, index) => {
    if (left <= budget || index === turns.length - 1) return true
    left -= estimateTokens(turn)
    return false
  })
  return [...system, ...turns.slice(firstKept).flat()]
}
