import { describe, expect, it } from 'vitest'
import { canMove, EXECUTION_STATUSES, hasEnded, TERMINAL_STATUSES } from '../../../services/core/executions/execution.ts'

describe('the execution status machine', () => {
  it('has no way out of an end', () => {
    for (const end of TERMINAL_STATUSES) for (const to of EXECUTION_STATUSES) expect(canMove(end, to)).toBe(false)
  })
  it('can end from every state that is not one, and succeeds only from running', () => {
    for (const from of EXECUTION_STATUSES.filter((status) => !hasEnded(status))) {
      for (const to of ['failed', 'timed_out', 'cancelled'] as const) expect(canMove(from, to)).toBe(true)
      expect(canMove(from, 'succeeded')).toBe(from === 'running')
    }
  })
})
