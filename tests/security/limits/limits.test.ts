import { beforeAll, describe, expect, inject, it } from 'vitest'
import type { Finding } from './threshold.ts'
import { THRESHOLDS } from './registry.ts'
import { runThresholds } from './run-thresholds.ts'

/** The short form. `npm run test:security -- --only limits` runs every repetition. */
const selected = THRESHOLDS.filter(({ isLong }) => isLong !== true)

const measured = new Map<string, readonly Finding[]>()
const measure = (thresholds: typeof selected) =>
  runThresholds(inject('sandboxImage'), thresholds, 'short', ({ threshold, findings }) => void measured.set(threshold.id, findings))
beforeAll(() => measure(selected), 300_000)

describe('limit thresholds', () => {
  it('number nine, from C-20 to C-28', () =>
    expect(THRESHOLDS.map(({ id }) => id)).toEqual(Array.from({ length: 9 }, (_, i) => `C-${20 + i}`)))

  it.each(selected.map(({ id, title }) => [id, title]))('%s: %s', async (id) => {
    // A retry measures again.
    if (!measured.has(id)) await measure(selected.filter((one) => one.id === id))
    const findings = measured.get(id) ?? []
    measured.delete(id)
    expect(findings.length).toBeGreaterThan(0)
    expect(findings.filter(({ holds }) => !holds)).toEqual([])
  })
})
