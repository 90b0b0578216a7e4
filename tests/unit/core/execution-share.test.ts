import { expect, it } from 'vitest'
import { enterShare, expectedWaitMs, leaveShare, type ExecutionShare } from '../../../services/model/executions/execution-share.ts'

const EMPTY: ExecutionShare = { cap: 0, running: {}, waiting: [] }
const entry = (executionId: string) => ({ executionId, containerId: `c-${executionId}` })
const enterAll = (ids: readonly string[], cap: number, share = EMPTY) =>
  ids.reduce((now, id) => enterShare(now, entry(id), { cap, now: 1 }), share)
const waitingOf = (share: ExecutionShare) => share.waiting.map(({ executionId }) => executionId)

it('admits up to the cap and lets the others wait in their order', () => {
  const share = enterAll(['a', 'b', 'c', 'd'], 2)
  expect(Object.keys(share.running)).toEqual(['a', 'b'])
  expect(waitingOf(share)).toEqual(['c', 'd'])
  expect(enterAll(['a', 'c'], 2, share)).toEqual(share)
})

it('gives a free slot to the first that waits, and to no later request', () => {
  const { share, admitted } = leaveShare(enterAll(['a', 'b', 'c', 'd'], 2), 'a', 5)
  expect(admitted).toEqual([entry('c')])
  expect(share).toMatchObject({ running: { b: 1, c: 5 }, waiting: [entry('d')] })
  expect(waitingOf(enterAll(['e'], 2, share))).toEqual(['d', 'e'])
  expect(waitingOf(leaveShare(share, 'd', 6).share)).toEqual([])
})

it('applies a changed cap with the next request', () => {
  const raised = enterAll(['c'], 3, enterAll(['a', 'b', 'c'], 2))
  expect(Object.keys(raised.running)).toEqual(['a', 'b', 'c'])
  const lowered = enterAll(['d'], 1, raised)
  expect(leaveShare(lowered, 'a', 2).admitted).toEqual([])
})

it('drops a slot whose execution never reported its end', () => {
  const share = enterAll(['a', 'b'], 1)
  const hours = 3 * 3_600_000 + 1
  expect(Object.keys(enterShare(share, entry('b'), { cap: 1, now: hours }).running)).toEqual(['b'])
})

it('estimates the wait from the average duration', () => {
  const full = enterAll(['a', 'b', 'c'], 1)
  expect(expectedWaitMs(full, 1, null)).toBeNull()
  const { share } = leaveShare(full, 'a', 1_001)
  expect(share.meanMs).toBe(1_000)
  const average = leaveShare(share, 'b', 3_001).share
  expect(average.meanMs).toBe(1_200)
  expect(enterShare(average, entry('d'), { cap: 1, now: 3_001 }).meanMs).toBe(1_200)
  expect([expectedWaitMs(average, 2, null), expectedWaitMs(average, 0, 0), expectedWaitMs({ ...average, cap: 4 }, 1, 1)]).toEqual([
    2_400, 1_200, 1_800,
  ])
})
