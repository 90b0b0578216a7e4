import { IN_RESULT, type ExecutionResult } from '../../model/executions/execution.ts'

/** Files that are not kept are there until the sandbox is released, and a folder can have thousands. */
const IS_FILE = /^(?:files?|folder|link|skill|temporary files)\b/

/** What an answer lacks, such as output beyond the kept part, as text for the error output: E2B's answers have no other place for it. */
export const lossText = (result: Pick<ExecutionResult, 'lost'> | null): string =>
  (result?.lost ?? [])
    .filter(({ what }) => !IS_FILE.test(what) && !what.endsWith(IN_RESULT))
    .map(({ what, reason }) => `Not available: ${what}. ${reason}\n`)
    .join('')
