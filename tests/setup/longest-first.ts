import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest files. They run first, because each would delay the end of the run otherwise. */
const LONGEST = [
  'security/programs.test.ts',
  'security/limits/limits.test.ts',
  'e2e/hibernate.test.ts',
  'integration/orchestrator/hibernate.test.ts',
  'chaos/chaos.test.ts',
  'e2e/executions.test.ts',
  'integration/orchestrator/crash.test.ts',
  'integration/chat/crash.test.ts',
  'browser/journey.test.ts',
  'e2e/cli.test.ts',
  'e2e/client-compat.test.ts',
  'e2e/restart.test.ts',
  'contract/dynamodb-table.test.ts',
]
const rank = ({ moduleId }: TestSpecification): number => {
  const index = LONGEST.findIndex((path) => moduleId.endsWith(`/tests/${path}`))
  return index === -1 ? LONGEST.length : index
}

/** Vitest's own order, with the slowest files first. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the verb of the sequencer, not of an array
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
