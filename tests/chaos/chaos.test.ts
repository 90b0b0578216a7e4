import { describe, expect, it } from 'vitest'
import { checkHistory } from './check-history.ts'
import { SCENARIOS } from './scenarios/registry.ts'
import type { Scenario } from './scenarios/scenario.ts'

/** Runs a small part of each scenario. `npm run test:chaos` runs all of it. */
const SHORT_SCALE = 0.004
/** On the AWS adapters the short form runs those that depend on the adapter: its faults, repeated messages, and the platform's API. */
const ON_AWS_STORAGE: readonly string[] = ['faults', 'duplicates', 'restarts', 'run-task']

const isSelected = ({ name, needsSandboxes = false }: Scenario): boolean =>
  !needsSandboxes && (process.env['CELLBLOCK_STORAGE'] !== 'aws' || ON_AWS_STORAGE.includes(name))

describe.each(SCENARIOS.filter(isSelected))('$name ($thresholds)', (scenario) => {
  it('loses no job, runs none twice and reports no failure', async () => {
    const { histories, failures } = await scenario.run({ scale: SHORT_SCALE, log: () => undefined })
    const verdicts = histories.map((history) => checkHistory(history.entries))
    expect(verdicts.flatMap(({ violations }) => violations)).toEqual([])
    expect(failures).toEqual([])
    for (const { jobs, operations } of verdicts) expect([jobs > 0, operations > jobs]).toEqual([true, true])
  }, 120_000)
})
