import type { Execution, ExecutionResult } from '../../model/executions/execution.ts'
import { trimText, withoutControls } from '../../model/trim-text.ts'
import { currentFiles } from '../../operations/files/find-by-path.ts'
import type { Call } from '../../http/route.ts'
import type { OutputFile } from './schema.ts'
import type { Input } from './inputs.ts'

const MAX_CHARS = 100_000
/** Maximum number of files that clients accept from one execution. */
const MAX_FILES = 50
const KILLED = 137
const TIMED_OUT = 124
/** Sentences that clients show to the model, by the reason of the end. */
export const WHY: Readonly<Record<string, string>> = {
  oom: 'Out of memory',
  deadline: 'Time limit exceeded',
  cpu_limit: 'Time limit exceeded',
  output_limit: 'stdout length exceeded',
}

/** What the model reads is in `stdout` and `stderr`, also `notes`; clients show nothing else. */
export function outcome(row: Execution, result: ExecutionResult | null, notes: readonly string[]): Readonly<Record<string, unknown>> {
  const error = result?.error ?? null
  const isFailed = row.status !== 'succeeded'
  const message = isFailed && row.reason !== 'error' ? (WHY[row.reason ?? ''] ?? `The execution ended with status ${row.status}`) : null
  const stderr = [
    result?.stderr ?? '',
    error === null ? '' : error.traceback.join('\n') || `${error.name}: ${error.value}`,
    message ?? '',
    ...(result?.lost ?? []).map(({ what, reason }) => `Not available: ${what}. ${reason}`),
    ...notes,
  ]
  const exit = result?.exit
  return {
    stdout: shorten(result?.stdout ?? ''),
    stderr: shorten(stderr.filter((part) => part !== '').join('\n')),
    code: exit !== undefined ? exit.code : !isFailed ? 0 : row.status === 'timed_out' ? TIMED_OUT : error === null ? KILLED : 1,
    signal: exit?.signal ?? null,
    message,
    status: row.status,
    wall_time: row.startedAt === null || row.endedAt === null ? 0 : row.endedAt - row.startedAt,
  }
}

export const shorten = (text: string): string => trimText(withoutControls(text), MAX_CHARS)

/** Files that the code created or changed, unchanged inputs, and removed inputs. */
export async function outputFiles(
  call: Pick<Call, 'deps'>,
  container: { readonly tenant: string; readonly id: string },
  { inputs, result }: { readonly inputs: readonly Input[]; readonly result: ExecutionResult | null },
): Promise<Readonly<Record<string, unknown>>> {
  const made = result?.files ?? []
  const present = new Set((await currentFiles(call.deps, container)).map((file) => file.path))
  const changed = new Set(made.map((file) => file.path))
  const outputs = made.map((file): OutputFile => {
    const before = inputs.find((input) => input.path === file.path)
    return {
      id: file.id,
      name: file.path,
      path: `/mnt/data/${file.path}`,
      storage_session_id: container.id,
      ...(before === undefined ? {} : { modified_from: before.ref }),
    }
  })
  const inherited = inputs
    .filter(({ path }) => present.has(path) && !changed.has(path))
    .map(({ ref, path }): OutputFile => ({ ...ref, name: path, inherited: true }))
  const deleted = inputs.filter(({ path }) => !present.has(path)).map(({ path }) => path)
  const skipped = outputs.slice(MAX_FILES).map(({ name }) => name)
  const failed = (result?.lost ?? []).filter(({ what }) => /^files?\b/.test(what)).length
  const delivered = Math.min(outputs.length, MAX_FILES)
  return {
    files: [...outputs.slice(0, MAX_FILES), ...inherited],
    ...(deleted.length === 0 ? {} : { deleted_files: deleted }),
    ...(failed === 0
      ? {}
      : {
          artifact_delivery: {
            code: 'artifact_delivery_failed',
            status: delivered === 0 ? 'failed' : 'partial',
            attempted: delivered + failed,
            delivered,
            failed,
          },
        }),
    ...(skipped.length === 0
      ? {}
      : {
          artifact_truncation: {
            code: 'artifact_truncated',
            reasons: { max_files: skipped.length },
            skipped: skipped.slice(0, MAX_FILES),
            skipped_count: skipped.length,
          },
        }),
  }
}
