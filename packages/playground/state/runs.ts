import { signal } from '@preact/signals'
import { call, messageOf } from '../api/call.ts'
import type { List, RunSummary } from '../api/types.ts'
import { LANGUAGES } from './languages.ts'

const SHOWN = 50

/** The newest runs of the key; null until they have been read. */
export const runs = signal<readonly RunSummary[] | null>(null)
export const runsFailure = signal<string | null>(null)

/** What the page itself runs, such as the list of variables, is none of the person. */
const isOfPerson = ({ metadata }: RunSummary): boolean => metadata['page'] !== 'kernel'

/** `path`: those of the key of the session, or of a tenant. Rejects with ApiError. */
export async function readRuns(path: string): Promise<readonly RunSummary[]> {
  return (await call<Pick<List<RunSummary>, 'data'>>(`${path}?limit=${SHOWN}`)).data.filter(isOfPerson)
}

export async function loadRuns(): Promise<void> {
  try {
    runs.value = await readRuns('/v1/executions')
    runsFailure.value = null
  } catch (error) {
    runsFailure.value = messageOf(error)
  }
}

export const RUN_STATUS: Readonly<Record<RunSummary['status'], string>> = {
  queued: 'Waiting for a sandbox',
  starting: 'Starting a sandbox',
  running: 'Running',
  succeeded: 'Done',
  failed: 'Failed',
  timed_out: 'Timed out',
  cancelled: 'Stopped',
}

/** The parts of a run that a list shows. */
export function textsOf({ status, reason, language, created_at: madeAt, started_at: from, ended_at: to }: RunSummary) {
  const ms = from === null || to === null ? null : Date.parse(to) - Date.parse(from)
  return {
    at: madeAt.slice(0, 19).replace('T', ' '),
    language: LANGUAGES[language] ?? language,
    // A deadline and a click say no more than the status.
    end:
      status === 'failed' && reason !== null && reason !== 'error'
        ? `${RUN_STATUS[status]} (${reason.replaceAll('_', ' ')})`
        : RUN_STATUS[status],
    time: ms === null ? '' : ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 1_000)} s`,
  }
}
