import type { ExecutionResult } from '../../../model/executions/execution.ts'
import type { MimeBundle, Output } from '../../../model/executions/outputs.ts'
import { trimText, withoutControls } from '../../../model/trim-text.ts'

/** Maximum length of one call's text on the wire, characters. */
const MAX_LOGS = 32 * 1024

/** The text of a result in order of appearance: streams, results and the error, cut to head and tail. */
export function logsOf(result: ExecutionResult): string {
  const outputs = result.cells.flatMap((cell) => cell.outputs)
  const text =
    outputs.length > 0
      ? outputs
          .map(textOf)
          .filter((part) => part !== '')
          .map(endLine)
          .join('')
      : [result.stdout, result.stderr].map(endLine).join('')
  return trimText(text.replace(/\n$/, ''), MAX_LOGS)
}

function textOf(output: Output): string {
  switch (output.output_type) {
    case 'stream':
      return output.text
    case 'error':
      return withoutControls(output.traceback.length > 0 ? output.traceback.join('\n') : `${output.ename}: ${output.evalue}`)
    case 'display_data':
    case 'execute_result':
      return hasImage(output.data) ? '' : plainText(output.data)
  }
}

/** A MIME bundle's plain text; nbformat allows a list of lines. */
export function plainText(bundle: MimeBundle): string {
  const text = bundle['text/plain']
  return Array.isArray(text) ? text.join('') : typeof text === 'string' ? text : ''
}

const hasImage = (bundle: MimeBundle): boolean => Object.keys(bundle).some((mime) => mime === 'image/png' || mime === 'image/jpeg')
const endLine = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)
