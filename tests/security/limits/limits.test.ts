import { beforeAll, describe, expect, inject, it } from 'vitest'
import type { Finding } from './bar.ts'
import { BARS } from './registry.ts'
import { runBars } from './run-bars.ts'

/** The short form; all of it, with every repetition, is `npm run test:security -- --only limits`. */
const wanted = BARS.filter(({ isLong }) => isLong !== true)

const measured = new Map<string, readonly Finding[]>()
beforeAll(() => runBars(inject('sandboxImage'), wanted, 'short', ({ bar, findings }) => void measured.set(bar.id, findings)), 300_000)

describe('the bars of limits', () => {
  it('are nine, each with its number', () => expect(BARS.map(({ id }) => id)).toEqual(Array.from({ length: 9 }, (_, i) => `C-${20 + i}`)))

  it.each(wanted.map(({ id, title }) => [id, title]))('%s: %s', (id) => {
    const findings = measured.get(id) ?? []
    expect(findings.length).toBeGreaterThan(0)
    expect(findings.filter(({ holds }) => !holds)).toEqual([])
  })
})
