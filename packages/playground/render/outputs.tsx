import type { Execution, Output } from '../api/types.ts'
import { sharedToken } from '../session.ts'
import { showNetwork } from '../state/network.ts'
import { fileUrl, nameOf } from '../state/workspace.ts'
import { Ansi } from './ansi.tsx'
import { BundleView } from './bundle.tsx'
import { bytesText } from './format.ts'
import { Traceback } from './traceback.tsx'

/** Everything that an execution showed, in order, and the files that it wrote. */
export function Outputs({ execution }: { readonly execution: Execution }) {
  const outputs = execution.outputs ?? []
  const hasError = outputs.some((output) => output.output_type === 'error')
  return (
    <div class="outputs">
      {outputs.map((output, at) => (
        <OutputView key={at} output={output} />
      ))}
      {execution.status === 'failed' && !hasError && <p class="failure">{endOf(execution.reason)}</p>}
      {execution.status === 'timed_out' && <p class="failure">The code ran longer than its time limit and was stopped.</p>}
      {execution.lost.length > 0 && (
        <ul class="lost" aria-label="Not kept">
          {execution.lost.map(({ what, reason }, at) => (
            <li key={at}>
              {lostText(what, reason)}
              {what.startsWith('request to ') && sharedToken === null && (
                <button type="button" class="plain" onClick={showNetwork}>
                  Show the network
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {execution.files.length > 0 && (
        <ul class="file-chips" aria-label="Files written">
          {execution.files.map((file) => (
            <li key={file.id}>
              <a class="chip" href={fileUrl(execution.container_id, file.id)} download>
                ↓ {nameOf(file.path)} <small>{bytesText(file.bytes)}</small>
              </a>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function OutputView({ output }: { readonly output: Output }) {
  switch (output.output_type) {
    case 'stream': {
      const text = typeof output.text === 'string' ? output.text : output.text.join('')
      return (
        <div class={output.name}>
          <Ansi text={text} label={output.name === 'stderr' ? 'Error stream' : 'Printed text'} />
        </div>
      )
    }
    case 'error':
      return <Traceback name={output.ename} value={output.evalue} lines={output.traceback} />
    default:
      return <BundleView data={output.data} />
  }
}

const ENDS: Readonly<Record<string, string>> = {
  oom: 'The code used more memory than the container has.',
  kernel_died: 'The Python process ended. Variables are gone; files are kept.',
  cpu_limit: 'The code used more processor time than it may.',
  output_limit: 'The code printed more than it may.',
  disk_full: 'The disk of the container is full.',
  sandbox_lost: 'The sandbox was lost. Run the code again.',
  dead_letter: 'The service could not run the code. Run it again.',
}

const CUT = /^Cut to (\d+) of (\d+) bytes: \w+$/

const LEFT_OUT = /^(\d+) characters of its middle are in the events only\.$/

/** A loss as a person reads it: with amounts, and without the parts of the API where a program would find the rest. */
function lostText(what: string, reason: string): string {
  const [, kept, total] = CUT.exec(reason) ?? []
  if (kept !== undefined) return `${what}: ${bytesText(Number(kept))} of ${bytesText(Number(total))} are kept.`
  const [, characters] = LEFT_OUT.exec(reason) ?? []
  if (characters === undefined) return `${what}: ${reason.replace(/, as events\.$/, '.')}`
  return `${what.replace(/ in the result$/, '')}: ${Number(characters).toLocaleString('en')} characters of its middle are left out.`
}

const endOf = (reason: string | null): string => ENDS[reason ?? ''] ?? 'The code failed.'
