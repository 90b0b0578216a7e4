import { describe, expect, it } from 'vitest'
import { findForbidden } from '../../../scripts/prose/find-forbidden.ts'

describe('findForbidden', () => {
  it('names the line, the term and the replacement', () => {
    expect(findForbidden('First line.\nThen nobody reads it.')).toEqual([
      { line: 2, text: 'nobody', instead: 'name the subject ("no worker"), or "none"' },
    ])
  })

  it('finds a phrase across a line break inside a comment', () => {
    expect(findForbidden('// The step goes\n// on with the next row.')).toMatchObject([{ line: 1, instead: 'continues' }])
  })

  it.each(['nudgeHead', 'NUDGE_AFTER_MS', 'isTold'])('finds a term inside the identifier %s', (identifier) => {
    expect(findForbidden(`const ${identifier} = 1`)).toHaveLength(1)
  })

  it.each([
    'firewall rules',
    'wall-clock time',
    'the dead-letter queue',
    'upper-case letters',
    'mushroom',
    'recommend',
    'reaps a child process',
    'looks for wheels',
    'usually',
  ])('accepts the technical or unrelated term "%s"', (text) => {
    expect(findForbidden(text)).toEqual([])
  })
})
