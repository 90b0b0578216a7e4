import { describe, expect, it } from 'vitest'
import { checkHistory } from './check-history.ts'
import { SCENARIOS } from './scenarios/registry.ts'

/** A little of each scenario; the full form is `npm run test:chaos`. */
const SHORT = 0.004

describe.each(SCENARIOS.filter(({ needsSandboxes = false }) => !needsSandboxes))('$name ($bars)', (scenario) => {
  it('loses nothing and does nothing twice', async () => {
    const { histories, faults } = await scenario.run({ scale: SHORT, say: () => undefined })
    const verdicts = histories.map((history) => checkHistory(history.entries))
    expect(verdicts.flatMap(({ found }) => found)).toEqual([])
    expect(faults).toEqual([])
    for (const { jobs, operations } of verdicts) expect([jobs > 0, operations > jobs]).toEqual([true, true])
  }, 120_000)
})
