import { describe, expect, it } from 'vitest'
import { summarize } from '../../bench/statistics.ts'

describe('a figure', () => {
  it('sorts its samples', () => {
    const samples = Array.from({ length: 200 }, (_, index) => 200 - index)
    expect(summarize('ms', samples)).toEqual({ unit: 'ms', runs: 200, min: 1, median: 100.5, p99: 198, max: 200 })
  })

  it('uses the slowest sample as the 99th percentile of few runs', () => {
    expect(summarize('ms', [3, 1, 2])).toEqual({ unit: 'ms', runs: 3, min: 1, median: 2, p99: 3, max: 3 })
  })

  it('refuses an empty set of samples', () => {
    expect(() => summarize('ms', [])).toThrow('at least one run')
  })
})
