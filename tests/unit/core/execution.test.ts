import { describe, expect, it } from 'vitest'
import { canMove, EXECUTION_STATUSES, hasEnded } from '../../../services/model/executions/execution.ts'

describe('the execution status machine', () => {
  it('ends with success, failure, a time-out or a cancellation, and allows no transition from there', () => {
    const ends = EXECUTION_STATUSES.filter(hasEnded)
    expect(ends).toEqual(['succeeded', 'failed', 'timed_out', 'cancelled'])
    for (const end of ends) for (const to of EXECUTION_STATUSES) expect(canMove(end, to)).toBe(false)
  })
  it('allows an end from every non-terminal status, and success only from running', () => {
    for (const from of EXECUTION_STATUSES.filter((status) => !hasEnded(status))) {
      for (const to of ['failed', 'timed_out', 'cancelled'] as const) expect(canMove(from, to)).toBe(true)
      expect(canMove(from, 'succeeded')).toBe(from === 'running')
    }
  })
})
