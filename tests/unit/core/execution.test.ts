import { describe, expect, it } from 'vitest'
import { canMove, EXECUTION_STATUSES, hasEnded, TERMINAL_STATUSES } from '../../../services/core/executions/execution.ts'

describe('the execution status machine', () => {
  it('allows no transition from a terminal status', () => {
    for (const end of TERMINAL_STATUSES) for (const to of EXECUTION_STATUSES) expect(canMove(end, to)).toBe(false)
  })
  it('allows an end from every non-terminal status, and success only from running', () => {
    for (const from of EXECUTION_STATUSES.filter((status) => !hasEnded(status))) {
      for (const to of ['failed', 'timed_out', 'cancelled'] as const) expect(canMove(from, to)).toBe(true)
      expect(canMove(from, 'succeeded')).toBe(from === 'running')
    }
  })
})
