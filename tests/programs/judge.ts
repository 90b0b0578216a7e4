import type { WireExecution, WireOutput } from '../support/native-client.ts'
import type { Expectation, Program } from './parse-programs.ts'

const RESULT_TEXT = 'text/plain'
const PICTURES = ['image/png', 'image/jpeg']

/** What is missing from an ended execution; empty when a user gets what the program promises. */
export function judge(program: Program, execution: WireExecution): readonly string[] {
  const { expectations } = program
  const has = (kind: string): boolean => expectations.some((one) => one.kind === kind)
  const wrong = expectations.flatMap((expectation) => (isMet(expectation, execution) ? [] : [describe(expectation)]))
  if (!has('error') && !has('status') && execution.status !== 'succeeded') wrong.push(`ended as ${execution.status}`)
  if (!has('error') && execution.error !== null) wrong.push(`${execution.error.name}: ${execution.error.value.slice(0, 300)}`)
  if (!has('stderr') && !has('error') && execution.stderr.trim() !== '') wrong.push(`stderr: ${execution.stderr.trim().slice(0, 300)}`)
  if (!has('lost') && program.cells.at(-1)?.isAfterSleep === true)
    wrong.push(...execution.lost.map(({ what, reason }) => `lost ${what}: ${reason}`))
  return wrong
}

const describe = ({ kind, text }: Expectation): string => (text === '' ? `no ${kind}` : `no ${kind} ${JSON.stringify(text)}`)

function isMet({ kind, text }: Expectation, execution: WireExecution): boolean {
  const outputs = execution.outputs ?? []
  const paths = execution.files.map(({ path }) => path.replace('/mnt/data/', ''))
  switch (kind) {
    case 'stdout':
      return execution.stdout.includes(text)
    case 'not-stdout':
      return !execution.stdout.includes(text)
    case 'stderr':
      return text === 'any' || execution.stderr.includes(text)
    case 'result':
      return outputs.some((output) => output.output_type === 'execute_result' && partText(output, RESULT_TEXT).includes(text))
    case 'result-any':
      return outputs.some((output) => partText(output, RESULT_TEXT).includes(text))
    case 'mime':
      return outputs.some((output) => mimesOf(output).includes(text))
    case 'figure':
      return pictures(outputs) > 0
    case 'figures':
      return pictures(outputs) === Number(text)
    case 'file':
      return paths.includes(text)
    case 'files':
      return paths.length === 0
    case 'files-only':
      return paths.join(' ') === text
    case 'error':
      return execution.error?.name === text || (text === 'OSError' && /PermissionError|OSError/.test(execution.error?.name ?? ''))
    case 'lost':
      return execution.lost.some(({ what }) => what === text)
    case 'hint':
      return (execution.error?.value ?? '').includes(text)
    default:
      return true
  }
}

const pictures = (outputs: readonly WireOutput[]): number =>
  outputs.filter((output) => mimesOf(output).some((mime) => PICTURES.includes(mime))).length

function partText(output: WireOutput, mime: string): string {
  const part = output.data?.[mime]
  return Array.isArray(part) ? part.join('') : typeof part === 'string' ? part : ''
}

/** Types of a bundle's parts, those that are stored as objects included. */
function mimesOf(output: WireOutput): readonly string[] {
  const data = output.data ?? {}
  const refs = [data['cellblock/ref'] ?? []].flat() as readonly { readonly mime?: string }[]
  return [...Object.keys(data), ...refs.flatMap(({ mime }) => (mime === undefined ? [] : [mime]))]
}
