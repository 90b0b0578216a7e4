import type { Execution, ExecutionResult } from '../../../model/executions/execution.ts'
import type { Output } from '../../../model/executions/outputs.ts'
import { plainText } from './logs.ts'
import { trimText, withoutControls } from '../../../model/trim-text.ts'

type Section = 'stdout' | 'result' | 'traceback' | 'stderr'

/** Parts of the text for the model. `max`: characters. `headShare`: the share of a shortened text that its beginning gets. */
const SECTIONS: Readonly<Record<Section, { readonly max: number; readonly headShare?: number }>> = {
  stdout: { max: 8_000 },
  result: { max: 4_000 },
  traceback: { max: 3_000, headShare: 0.3 },
  stderr: { max: 2_000, headShare: 0 },
}
const MAX_LISTED_FILES = 40

const WHY: Readonly<Record<string, string>> = {
  oom: 'the code used more memory than the sandbox has; use less, for example by working in parts',
  kernel_died: 'the Python process died; variables are gone, files are kept',
  output_limit: 'the code printed too much; print less',
  disk_full: 'the disk of the sandbox is full; delete files that are not needed',
  sandbox_lost: 'the sandbox was lost; variables are gone, files of earlier calls are kept. Running the code again may work',
  dead_letter: 'the service could not run the code. Running it again may work',
  deadline: 'the code ran longer than it may; make it faster or do less in one call',
  caller: 'the call was cancelled',
}

const SHOWN = '[a picture is shown to the user]'
const HIDDEN = '[the user does not see this picture: save it to a file in /mnt/data and link that file in the answer]'

/** The text of a finished call for the model: status, output, error and files. `hidesPictures`: the user's client shows none. */
export function modelTextOf(execution: Pick<Execution, 'status' | 'reason'>, result: ExecutionResult, hidesPictures = false): string {
  const why = WHY[execution.reason ?? '']
  const parts = [`status: ${execution.status}${why === undefined ? '' : ` (${why})`}`]
  const section = (title: Section, text: string): void => {
    const { max, headShare } = SECTIONS[title]
    if (text.trim() !== '') parts.push(`${title}:\n${trimText(text.replace(/\n+$/, ''), max, headShare)}`)
  }
  section('stdout', result.stdout)
  const outputs = result.cells.flatMap((cell) => cell.outputs)
  section(
    'result',
    outputs
      .map((output) => shownText(output, result.error, hidesPictures ? HIDDEN : SHOWN))
      .filter((text) => text !== '')
      .join('\n'),
  )
  if (result.error !== null) {
    const { name, value, traceback } = result.error
    parts.push(`error: ${name}: ${trimText(value, 1_000)}`)
    section('traceback', withoutControls(traceback.join('\n')))
  }
  section('stderr', result.stderr)
  const files = result.files
    .slice(0, MAX_LISTED_FILES)
    .map((file) => `- /mnt/data/${file.path} (${file.bytes} bytes, ${file.isNew ? 'new' : 'changed'})`)
  if (result.files.length > files.length) files.push(`- and ${result.files.length - files.length} more`)
  if (files.length > 0) parts.push(`files:\n${files.join('\n')}`)
  if (result.lost.length > 0)
    parts.push(
      `missing:\n${result.lost
        .slice(0, 10)
        .map(({ what, reason }) => `- ${what}: ${reason}`)
        .join('\n')}`,
    )
  if (parts.length === 1 && execution.status === 'succeeded') parts.push('The code ran and printed nothing. Use print() to see a value.')
  return parts.join('\n')
}

/** An error that was displayed but did not end the call: a value that cannot be displayed, `%tb`. */
function shownText(output: Output, end: ExecutionResult['error'], picture: string): string {
  if (output.output_type === 'error')
    return output.ename === end?.name && output.evalue === end.value ? '' : `${output.ename}: ${trimText(output.evalue, 1_000)}`
  if (output.output_type === 'execute_result') return plainText(output.data)
  if (output.output_type !== 'display_data') return ''
  const image = Object.keys(output.data).find((mime) => mime.startsWith('image/'))
  return image === undefined && !('cellblock/ref' in output.data) ? plainText(output.data) : `${picture} ${plainText(output.data)}`.trim()
}
