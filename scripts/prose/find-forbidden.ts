import { FORBIDDEN_TERMS, type ForbiddenTerm } from './forbidden-terms.ts'

export interface Finding {
  readonly line: number
  readonly text: string
  readonly instead: string
}

/** Line breaks inside a phrase, with the comment marker of the next line. */
const GAP = String.raw`[\s*#/>|]+`

const bySource = new Map<string, ForbiddenTerm>()
for (const term of FORBIDDEN_TERMS) for (const phrase of term.term.split('|')) bySource.set(phrase, term)

const ANY_TERM = new RegExp(String.raw`\b(?:${[...bySource.keys()].map((phrase) => phrase.replaceAll(' ', GAP)).join('|')})\b`, 'gi')

/** Splits identifiers into words and keeps every line break: `queueHead` becomes `queue Head`. */
const splitIdentifiers = (text: string): string => text.replaceAll(/(?<=[a-z])(?=[A-Z])|_/g, ' ')

export function findForbidden(text: string): Finding[] {
  const lines = text.split('\n')
  const words = splitIdentifiers(text)
  return [...words.matchAll(ANY_TERM)].flatMap((match) => {
    const term = bySource.get(match[0].toLowerCase().replaceAll(new RegExp(GAP, 'g'), ' '))
    const line = countLines(words, match.index)
    return term === undefined || term.allowed?.test(lines[line] ?? '') === true
      ? []
      : [{ line: line + 1, text: match[0].replaceAll(/\s+/g, ' '), instead: term.instead }]
  })
}

function countLines(text: string, end: number): number {
  let count = 0
  for (let index = text.indexOf('\n'); index !== -1 && index < end; index = text.indexOf('\n', index + 1)) count++
  return count
}
