import { ServiceError } from '../../../core/errors.ts'
import { hasEnded, type Execution, type ExecutionResult } from '../../../core/executions/execution.ts'
import { loadResult } from '../../../core/executions/load-result.ts'
import { LIMITS } from '../../../core/limits.ts'
import { trimText, withoutColours } from '../../../core/trim-text.ts'
import { runCommand } from '../../commands/run-command.ts'
import { cancelExecution } from '../../executions/cancel-execution.ts'
import { runCode } from '../../executions/run-code.ts'
import { checkSource } from '../../executions/source.ts'
import { storedBytes } from '../../executions/stored-bytes.ts'
import { currentFiles } from '../../files/find-by-path.ts'
import { runContext, type Call } from '../../http/route.ts'
import { CapabilityError } from './refusals.ts'
import type { ExecBody, OutputFile } from './schema.ts'
import { bringInputs, newSession, sessionOfHint, type Input } from './session.ts'

const LANGUAGES: Readonly<Record<string, 'python' | 'bash'>> = {
  py: 'python',
  python: 'python',
  python3: 'python',
  bash: 'bash',
  sh: 'bash',
}
const MAX_CHARS = 100_000
/** Clients take no more files than this from one execution. */
const MAX_FILES = 50
const DEFAULT_SECONDS = 60

/** Runs code in the container of the hint, or in a new one with copies of the files. Failing code is an answer with status 200. */
export async function exec(call: Call<unknown, ExecBody>): Promise<Readonly<Record<string, unknown>>> {
  const { deps, caller, body, request } = call
  const language = LANGUAGES[body.lang.toLowerCase()]
  if (language === undefined) throw new CapabilityError(`The language ${JSON.stringify(body.lang)} is not available. Use py or bash.`)
  const hint = body.runtime_session_hint
  const { container, isNew } = hint === undefined ? { container: await newSession(call), isNew: true } : await sessionOfHint(call, hint)
  const inputs = await bringInputs(call, container, body.files ?? [])
  const execution = await run(call, container.id, language)
  // A client that disconnects cannot read the result.
  if (request.signal.aborted && !hasEnded(execution.status)) await cancelExecution(deps, caller.tenant, execution.id)
  if (!hasEnded(execution.status))
    throw new ServiceError('sandbox_unavailable', 'The code did not end in the time that this server may hold a call. Split it.')
  return deps.results.hold(storedBytes(execution), async () => {
    const result = await loadResult(deps.objects, execution)
    return {
      ...outcome(execution, result),
      session_id: container.id,
      ...(await files(call, container, inputs, result)),
      ...(hint === undefined ? {} : { runtime_session_id: container.id, runtime_status: isNew ? 'new' : 'reused' }),
    }
  })
}

async function run(call: Call<unknown, ExecBody>, containerId: string, language: 'python' | 'bash'): Promise<Execution> {
  const { deps, caller, body } = call
  const { timeoutSeconds: most } = await deps.limits.of(caller.tenant)
  const asked = body.timeout === undefined ? DEFAULT_SECONDS : Math.ceil(body.timeout / 1000)
  const timeoutSeconds = Math.max(1, Math.min(asked, most, LIMITS.maxTimeoutSeconds))
  const waitMs = deps.config.maxHoldSeconds * 1000
  const context = runContext(call)
  const args = body.args ?? []
  if (language === 'bash') {
    const argv = ['/bin/bash', '-lc', body.code, 'bash', ...args]
    return (await runCommand(context, { containerId, argv, timeoutSeconds, waitMs })).execution
  }
  const prelude = args.length === 0 ? '' : `import sys; sys.argv = ${JSON.stringify(['main.py', ...args])}\n`
  return (await runCode(context, { containerId, source: checkSource({ code: prelude + body.code }), timeoutSeconds, waitMs })).execution
}

const KILLED = 137
const TIMED_OUT = 124
const WHY: Readonly<Record<string, string>> = {
  oom: 'Out of memory',
  deadline: 'Time limit exceeded',
  cpu_limit: 'Time limit exceeded',
  output_limit: 'stdout length exceeded',
}

/** What the model reads is in `stdout` and `stderr`; clients show nothing else. */
function outcome(row: Execution, result: ExecutionResult | null): Readonly<Record<string, unknown>> {
  const error = result?.error ?? null
  const isFailed = row.status !== 'succeeded'
  const message = isFailed && row.reason !== 'error' ? (WHY[row.reason ?? ''] ?? `The execution ended with status ${row.status}`) : null
  const stderr = [
    result?.stderr ?? '',
    error === null ? '' : error.traceback.join('\n') || `${error.name}: ${error.value}`,
    message ?? '',
    ...(result?.lost ?? []).map(({ what, reason }) => `Not available: ${what}. ${reason}`),
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

const shorten = (text: string): string => trimText(withoutColours(text), MAX_CHARS)

/** Files that the code made or changed, inputs that it left as they were, and inputs that it removed. */
async function files(
  call: Pick<Call, 'deps'>,
  container: { readonly tenant: string; readonly id: string },
  inputs: readonly Input[],
  result: ExecutionResult | null,
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
  return {
    files: [...outputs.slice(0, MAX_FILES), ...inherited],
    ...(deleted.length === 0 ? {} : { deleted_files: deleted }),
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
