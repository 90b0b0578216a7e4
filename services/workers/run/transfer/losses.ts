import { IN_RESULT, type ExecutionReason, type ExecutionStatus, type Lost } from '../../../model/executions/execution.ts'
import type { OutputAssembler } from '../../../model/executions/output-assembler.ts'
import type { SupervisorEnvelope, SupervisorOutcome } from '../../../ports/supervisor.ts'

/** The status and reason of each outcome that a supervisor reports. */
const ENDS: Record<SupervisorOutcome, { readonly status: ExecutionStatus; readonly reason: ExecutionReason | null }> = {
  ok: { status: 'succeeded', reason: null },
  error: { status: 'failed', reason: 'error' },
  timed_out: { status: 'timed_out', reason: 'deadline' },
  cancelled: { status: 'cancelled', reason: 'caller' },
  oom: { status: 'failed', reason: 'oom' },
  kernel_died: { status: 'failed', reason: 'kernel_died' },
  output_limit: { status: 'failed', reason: 'output_limit' },
  disk_full: { status: 'failed', reason: 'disk_full' },
  cpu_limit: { status: 'timed_out', reason: 'cpu_limit' },
}
export const endOf = (outcome: SupervisorOutcome): { readonly status: ExecutionStatus; readonly reason: ExecutionReason | null } =>
  ENDS[outcome]

/** By the supervisor's reason. */
const STATE_LOST = new Map<string, string>(
  Object.entries({
    oom: 'The kernel ran out of memory and was restarted. Read the data in parts, or create a container with a larger memory_limit.',
    kernel_died: 'The kernel died and was restarted.',
    timed_out: 'The kernel did not stop at its time limit and was restarted.',
    cpu_limit: 'The kernel did not stop at its processor time limit and was restarted.',
    output_limit: 'The kernel did not stop at its output limit and was restarted.',
    cancelled: 'The kernel did not stop when it was cancelled and was restarted.',
  }),
)

/** Losses that are not measured in bytes. */
const NOT_CUT = new Map<string, string>(
  Object.entries({
    numbers_changed: 'NaN and infinite numbers became null and integers beyond 64 bits became text, because JSON has none of them.',
    not_json: 'Displays were dropped: what they hold is no JSON.',
    too_deep: 'Displays were dropped: their JSON is nested too deep.',
    too_many_keys: 'Displays were dropped: their JSON has too many keys and values.',
    too_many: 'There are more files than a sandbox is searched for: the rest was not searched. Delete some, or pack them into an archive.',
    events_dropped: 'The sandbox had dropped events before they were read, so output may be missing.',
    too_many_skipped: 'More files were not collected than are named here.',
  }),
)

/** What is lost with this path in `/mnt/data`; `.` is the folder itself. */
export const lostFile = (path: string): string => (path === '.' ? 'files' : `file ${JSON.stringify(path)}`)

/** Everything that the envelope reports as missing, as text for the result. */
export function lostIn(envelope: SupervisorEnvelope): Lost[] {
  return [
    ...envelope.truncated.map((part) => ({
      what: part.what,
      reason: NOT_CUT.get(part.reason) ?? `Cut to ${part.keptBytes} of ${part.totalBytes} bytes: ${part.reason}`,
    })),
    ...envelope.skipped.map((file) => ({
      what: lostFile(file.path),
      reason: `Not collected: ${file.reason}`,
    })),
    ...(envelope.endedProcesses === 0
      ? []
      : [
          {
            what: 'processes',
            reason: `Processes that code had started were ended (${envelope.endedProcesses}): it was stopped, or they used up the process limit.`,
          },
        ]),
    ...(envelope.stateLost === null
      ? []
      : [{ what: 'variables', reason: STATE_LOST.get(envelope.stateLost) ?? 'The kernel was restarted.' }]),
  ]
}

/** What the event log has of each stream and the result does not. */
export const leftOutOf = ({ leftOut }: Pick<OutputAssembler, 'leftOut'>): readonly Lost[] =>
  Object.entries(leftOut)
    .filter(([, characters]) => characters > 0)
    .map(([stream, characters]) => ({
      what: `${stream}${IN_RESULT}`,
      reason: `${characters} characters of its middle are in the events only.`,
    }))

/** Losses that are named take at most this much of a row, bytes of JSON. */
const MAX_BYTES = 24 * 1024

/** Names as many losses as fit and counts the rest. */
export function truncateLosses(lost: readonly Lost[]): readonly Lost[] {
  let bytes = 0
  const fitting = lost.findIndex((one) => (bytes += Buffer.byteLength(JSON.stringify(one))) > MAX_BYTES)
  if (fitting === -1) return lost
  return [...lost.slice(0, fitting), { what: 'more', reason: `${lost.length - fitting} more losses of this kind are not named here.` }]
}
