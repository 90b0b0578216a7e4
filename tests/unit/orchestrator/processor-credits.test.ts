import { expect, it } from 'vitest'
import { ProcessorCredits } from '../../../services/workers/place/processor-credits.ts'

it('begins with a burst, and keeps what it knows when a reading fails or the count starts again', () => {
  const credits = new ProcessorCredits()
  credits.count('one', 5_000, 0)
  expect(credits.isSpent('one')).toBe(false)
  credits.count('one', 5_250, 250)
  expect(credits.isSpent('one')).toBe(true)
  credits.count('one', null, 500)
  expect(credits.isSpent('one')).toBe(true)
  credits.count('one', 10, 510)
  expect(credits.isSpent('one')).toBe(false)
})

it('forgets a sandbox that is not kept', () => {
  const credits = new ProcessorCredits()
  credits.count('one', 0, 0)
  credits.count('one', 1_000, 100)
  credits.keep(new Set())
  expect(credits.isSpent('one')).toBe(false)
})
