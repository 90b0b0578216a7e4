import type { Execution, ExecutionResult } from '../../model/executions/execution.ts'
import { trimText, withoutControls } from '../../model/trim-text.ts'

/** The result of a program, as a shell reports it. */
export interface ScriptResult {
  readonly stdout: string
  readonly stderr: string
  readonly returncode: number
}

/** Maximum length of each stream for the model, characters. */
const MAX_CHARS = 50_000
const TIMED_OUT = 124
const KILLED = 137

/** `isCutOff`: it was stopped at the end of the wait. */
export function scriptResult(row: Pick<Execution, 'status' | 'reason'>, result: ExecutionResult | null, isCutOff: boolean): ScriptResult {
  const shown = (result?.cells ?? []).flatMap(({ outputs }) => outputs.flatMap(valueOf))
  const error = result?.error ?? null
  const isExit = error?.name === 'SystemExit'
  const stderr = [
    result?.stderr ?? '',
    error === null || isExit ? '' : error.traceback.length > 0 ? error.traceback.join('\n') : `${error.name}: ${error.value}`,
    row.status === 'succeeded' || (row.reason === 'error' && error !== null)
      ? ''
      : (WHY[row.reason ?? ''] ?? `The program ended as ${row.status}.`),
    isCutOff ? 'It was stopped, because the answer has to come within 45 seconds.' : '',
    ...(result?.lost ?? []).map(({ what, reason }) => `[not there: ${what}. ${reason}]`),
  ]
  return {
    stdout: joined([result?.stdout ?? '', ...shown]),
    stderr: joined(stderr),
    returncode: isExit ? exitCode(error.value) : returnCode(row, isCutOff),
  }
}

const WHY: Readonly<Record<string, string>> = {
  oom: 'It used more memory than there is.',
  kernel_died: 'The Python process died.',
  disk_full: 'The disk is full.',
  output_limit: 'It printed more than can be taken.',
  deadline: 'It took longer than 30 seconds and was stopped.',
  sandbox_lost: 'The sandbox was lost. Call again.',
}

function returnCode({ status, reason }: Pick<Execution, 'status' | 'reason'>, isCutOff: boolean): number {
  if (status === 'succeeded') return 0
  if (isCutOff || status === 'timed_out') return TIMED_OUT
  return reason === 'error' || reason === 'output_limit' || reason === 'disk_full' ? 1 : KILLED
}

/** As Python ends a process: a number is the code, nothing is success, anything else is printed and means failure. */
const exitCode = (value: string): number => (/^-?\d{1,6}$/.test(value) ? Number(value) & 0xff : value === '' || value === 'None' ? 0 : 1)

/** The value of a cell's last expression, without images. */
function valueOf(output: ExecutionResult['cells'][number]['outputs'][number]): string[] {
  if (output.output_type !== 'execute_result') return []
  const value = output.data['text/plain']
  return typeof value === 'string' ? [value] : Array.isArray(value) ? [value.join('')] : []
}

const joined = (parts: readonly string[]): string =>
  trimText(
    withoutControls(
      parts
        .filter((part) => part !== '')
        .map((part) => (part.endsWith('\n') ? part : `${part}\n`))
        .join(''),
    ),
    MAX_CHARS,
  )
