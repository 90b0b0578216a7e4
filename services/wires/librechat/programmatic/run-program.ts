import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Container } from '../../../model/containers/container.ts'
import { ServiceError } from '../../../model/errors.ts'
import type { Execution, ExecutionResult } from '../../../model/executions/execution.ts'
import { RUN_ANSWER_BYTES } from '../../../operations/executions/result-budget.ts'
import { runCommand } from '../../../operations/commands/run-command.ts'
import { deleteFile } from '../../../operations/files/delete-file.ts'
import { currentFiles } from '../../../operations/files/find-by-path.ts'
import { parseHostileJson } from '../../../model/scan-json.ts'
import { runContext, type Call } from '../../../http/route.ts'
import { answerEnded, timeLimit } from '../ended-run.ts'
import { bringInputs, renamedNotes, type Input } from '../inputs.ts'
import { WireError } from '../errors.ts'
import { outcome, outputFiles, shorten, WHY } from '../result.ts'
import { findOrCreateSession } from '../session.ts'
import { claimRequest } from './cancel.ts'
import { DRIVER } from './driver.ts'
import { identifiersOf, type ProgramLanguage } from './identifiers.ts'
import { ReportedCalls, type ProgramBody, type ToolCall, type ToolResult } from './schema.ts'
import { measureProgram, storeProgram, takeProgram, type Program, type RecordedResult } from './state.ts'
import { safeParse } from '../../../model/safe-parse.ts'

type Answer = Readonly<Record<string, unknown>>
type ProgramCall = Call<unknown, ProgramBody>

/**
 * Runs a program that calls the client's tools. At a call without a result the run ends, and the answer names the calls; the next request brings their
 * results and the program runs again from its start with them.
 */
export async function runProgrammatic(call: ProgramCall): Promise<Answer> {
  call.deps.results.reserve(RUN_ANSWER_BYTES)
  const { continuation_token: token, tool_results: given } = call.body
  if (token === undefined) {
    const program = newProgram(call.body)
    hold(call, program)
    const hint = call.body.runtime_session_hint
    const { container } = await findOrCreateSession(call, hint)
    return runOnce(call, container, program)
  }
  if (given === undefined)
    throw new ServiceError('invalid_request', 'A continuation needs tool_results, the results of the calls.', { param: 'tool_results' })
  const results = new Map(given.map((one) => [one.call_id, recorded(one)]))
  const { container, program } = await takeProgram(call, token, (former, waitingFor) => {
    const added = Object.fromEntries([...results].filter(([id]) => waitingFor.includes(id)))
    const next: Program = { ...former, results: { ...former.results, ...added } }
    hold(call, next)
    return next
  })
  return runOnce(call, container, program)
}

/** Counts the program, which is in memory until its run has ended, before anything is done. Throws ServiceError when it is too large or finds no space. */
const hold = ({ deps }: ProgramCall, program: Program): void => deps.results.reserve(RUN_ANSWER_BYTES + measureProgram(program))

const compress = promisify(gzip)

const recorded = ({ result, is_error: isError, error_message: message }: ToolResult): RecordedResult => ({
  result: result ?? null,
  is_error: isError === true,
  error_message: message ?? 'The tool failed.',
})

function newProgram({ code, tools, files = [], timeout, lang, language, runtime_session_hint: hint }: ProgramBody): Program {
  if (code === undefined || tools === undefined)
    throw new ServiceError('invalid_request', 'A program needs code and tools, or a continuation_token with tool_results.', {
      param: 'code',
    })
  const languageOfProgram = programLanguage(lang ?? language ?? 'python')
  const names = tools.map(({ name }) => name)
  return {
    code,
    language: languageOfProgram,
    tools: identifiersOf(names, languageOfProgram),
    results: {},
    files,
    timeoutMs: timeout ?? null,
    isShared: hint !== undefined,
  }
}

function programLanguage(name: string): ProgramLanguage {
  if (/^(py|python|python3)$/i.test(name)) return 'python'
  if (/^(bash|sh)$/i.test(name)) return 'bash'
  throw new WireError('unsupported_capability', `Programs that call tools cannot be ${JSON.stringify(name)}. Use python or bash.`)
}

async function runOnce(call: ProgramCall, container: Container, program: Program): Promise<Answer> {
  const inputs = await bringInputs(call, container, program.files)
  const { code, language, tools, results } = program
  const marker = `\n${randomBytes(18).toString('base64url')}:`
  const claimed = await claimRequest(call)
  const { execution } = await runCommand(runContext(call), {
    containerId: container.id,
    argv: ['/usr/bin/python3', '-c', DRIVER],
    stdin: await compress(JSON.stringify({ code, language, tools, results, marker })),
    timeoutSeconds: await timeLimit(call, program.timeoutMs ?? undefined),
    waitMs: call.deps.config.maxHoldSeconds * 1000,
    ...(claimed !== null && { claimed }),
  })
  return answerEnded(call, execution, async (result) => {
    const [stderr, report] = split(result?.stderr ?? '', marker)
    if (report === null) return { ...ended(execution, { result, results, inputs }), ...(await filesOf()) }
    const reported = callsIn(report, tools)
    if (typeof reported === 'string') return { status: 'error', error: reported, stderr: shorten(stderr), session_id: container.id }
    if (!program.isShared) await removeFiles(call, container, result)
    return {
      status: 'tool_call_required',
      continuation_token: await storeProgram(call, container, { program, waitingFor: reported.map(({ id }) => id) }),
      tool_calls: reported,
      session_id: container.id,
      partial_stdout: shorten(result?.stdout ?? ''),
      partial_stderr: shorten(stderr),
    }

    async function filesOf(): Promise<Answer> {
      return { session_id: container.id, ...(await outputFiles(call, container, { inputs, result })) }
    }
  })
}

/** The program's own text, and what follows the marker. */
function split(stderr: string, marker: string): readonly [string, string | null] {
  const at = stderr.lastIndexOf(marker)
  return at === -1 ? [stderr, null] : [stderr.slice(0, at), stderr.slice(at + marker.length)]
}

/** The calls of a report, or the sentence of an error that clients know. */
function callsIn(report: string, tools: Program['tools']): readonly ToolCall[] | string {
  const parsed = safeParse(ReportedCalls(), parseHostileJson(report))
  if (!parsed.success) return 'Execution failed or timed out'
  const foreign = parsed.data.find(({ name }) => !tools.some(([, tool]) => tool === name))
  return foreign === undefined ? parsed.data : `Sandbox requested an unregistered tool: ${foreign.name}`
}

function ended(
  execution: Execution,
  {
    result,
    results,
    inputs,
  }: { readonly result: ExecutionResult | null; readonly results: Program['results']; readonly inputs: readonly Input[] },
): Answer {
  const { stdout, stderr, code } = outcome(execution, result, renamedNotes(inputs))
  const common = { stdout, stderr, tool_calls_made: Object.keys(results).length, execution_time: result?.usage.runMs ?? 0 }
  if (code === 0) return { status: 'completed', ...common }
  const error = WHY[execution.reason ?? ''] ?? `Sandbox exited with code ${String(code)}`
  return { status: 'error', error, ...common }
}

/** The next run starts from the inputs, so what this run wrote is removed; `bringInputs` copies a changed input again. */
async function removeFiles({ deps }: ProgramCall, container: Container, result: ExecutionResult | null): Promise<void> {
  const written = new Set(result?.files.map(({ id }) => id))
  for (const file of await currentFiles(deps, container)) if (written.has(file.id)) await deleteFile(deps, file)
}
