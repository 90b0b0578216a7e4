import { describe, expect, it } from 'vitest'
import { checkHistory } from './check-history.ts'
import { SCENARIOS } from './scenarios/registry.ts'

/** Runs a small part of each scenario. `npm run test:chaos` runs all of it. */
const SHORT_SCALE = 0.004

describe.each(SCENARIOS.filter(({ needsSandboxes = false }) => !needsSandboxes))('$name ($thresholds)', (scenario) => {
  it('loses no job, runs none twice and reports no failure', async () => {
    const { histories, failures } = await scenario.run({ scale: SHORT_SCALE, log: () => undefined })
    const verdicts = histories.map((history) => checkHistory(history.entries))
    expect(verdicts.flatMap(({ violations }) => violations)).toEqual([])
    expect(failures).toEqual([])
    for (const { jobs, operations } of verdicts) expect([jobs > 0, operations > jobs]).toEqual([true, true])
  }, 120_000)
})
