import type { Program } from '../../hostile-programs/program.ts'
import { fail, warn, type Finding } from '../finding.ts'
import { checkPrograms } from './hostile-programs.ts'
import { checkLongCall } from './long-call-check.ts'
import { reasonOf, withContainer, type Api } from './service-calls.ts'
import { checkStreaming } from './streaming-check.ts'

export interface ServiceChecksOptions {
  readonly api: Api
  readonly programs: readonly Program[]
  /** Also runs the check that takes more than two minutes. */
  readonly isLong: boolean
  /** Runs while the sandbox of these checks is alive. */
  readonly checkTaskEvents: () => Promise<Finding>
  readonly report: (finding: Finding) => void
}

/** The checks that use the service as a tenant does, in one container. */
export async function checkService({ api, programs, isLong, checkTaskEvents, report }: ServiceChecksOptions): Promise<void> {
  try {
    await withContainer(api, async (container) => {
      report(await checkPrograms(container, programs))
      report(await checkStreaming(container))
      report(await checkTaskEvents())
      report(isLong ? await checkLongCall(container) : warn('Long call', 'not tried, because it takes more than two minutes: add --long.'))
    })
  } catch (error) {
    report(fail('Worker', `The service did not answer: ${reasonOf(error)}`))
  }
}
