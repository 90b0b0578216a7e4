import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Ansi } from '../render/ansi.tsx'
import { Code } from '../render/code.tsx'
import { bytesText, millisecondsText } from '../render/format.ts'
import { Outputs } from '../render/outputs.tsx'
import { sharedToken } from '../session.ts'
import { elapsedText, now } from '../state/clock.ts'
import { editCode } from '../state/composer.ts'
import { LANGUAGES } from '../state/languages.ts'
import { executionSignal } from '../state/executions.ts'
import { RUN_STATUS } from '../state/runs.ts'
import type { CodeRun } from '../state/timeline.ts'
import { CopyButton } from '../render/copy-button.tsx'
import { Icon } from '../render/icons.tsx'

const LABELS: Readonly<Record<CodeRun['status'], string>> = {
  writing: 'Writing code',
  unknown: 'Reading the result',
  ...RUN_STATUS,
}
const ACTIVE: readonly string[] = ['writing', 'queued', 'starting', 'running']
let lastNumber = 0
/** Longer code is folded while it is not read. */
const FOLDED_LINES = 24

/** How the code ended, by its execution where the page has read it. */
function statusOf(run: CodeRun): CodeRun['status'] {
  if (run.status !== 'unknown' || run.executionId === null) return run.status
  const loaded = executionSignal(run.executionId).value
  return loaded !== 'loading' && 'id' in loaded ? loaded.status : 'unknown'
}

/** One notebook cell: the code, what it prints while it runs, and its outputs. `isFoldable`: code that has ended shows as one line. */
export function RunView({
  run,
  isFoldable = false,
  editor,
  actions,
}: {
  readonly run: CodeRun
  readonly isFoldable?: boolean
  /** In place of the code. */
  readonly editor?: ComponentChildren
  readonly actions?: ComponentChildren
}) {
  const status = statusOf(run)
  const number = useRef(0)
  // Regions of a page need different names.
  number.current ||= ++lastNumber
  const isActive = ACTIVE.includes(status)
  const [isOpen, setOpen] = useState(!isFoldable)
  const isFolded = isFoldable && !isOpen && !isActive
  const lines = run.code.trimEnd().split('\n').length
  const language = LANGUAGES[run.language] ?? run.language
  return (
    <section
      class={`cell ${isActive ? 'active' : status} ${isFolded ? 'folded-code' : ''}`}
      aria-label={`Code cell: ${LABELS[status]}, number ${number.current}`}
    >
      <header class="cell-head">
        {isFoldable && !isActive ? (
          <button type="button" class="cell-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} title="Show or hide the code">
            <Icon name="chevron" />
            <span>
              <span class="cell-language">{language}</span>, {lines} {lines === 1 ? 'line' : 'lines'}
            </span>
          </button>
        ) : (
          <span class="cell-language">{language}</span>
        )}
        <span class={`state ${status}`}>
          {isActive && <span class="pulse" aria-hidden="true" />}
          {LABELS[status]}
        </span>
        {isActive && run.startedAt !== null && <span class="usage">{elapsedText(run.startedAt, now.value)}</span>}
        {run.executionId !== null && <Usage id={run.executionId} />}
        {!isActive && <CopyButton text={run.code} label="Copy the code" />}
        {!isActive &&
          sharedToken === null &&
          (actions ?? (
            <button type="button" class="icon-button small" onClick={() => editCode(run.code, run.language)} title="Edit and run again">
              <Icon name="edit" />
              <span class="hidden">Edit and run again</span>
            </button>
          ))}
      </header>
      {!isFolded && (editor ?? <LongCode run={run} />)}
      <Results run={run} />
    </section>
  )
}

function LongCode({ run }: { readonly run: CodeRun }) {
  const lines = run.code.split('\n')
  const [isOpen, setOpen] = useState(false)
  if (lines.length <= FOLDED_LINES || run.status === 'writing') return <Code text={run.code} language={run.language} />
  return (
    <>
      <Code text={isOpen ? run.code : lines.slice(0, FOLDED_LINES / 2).join('\n')} language={run.language} />
      <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Show less' : `Show all ${lines.length} lines`}
      </button>
    </>
  )
}

function Results({ run }: { readonly run: CodeRun }) {
  const loaded = run.executionId === null ? null : executionSignal(run.executionId).value
  if (loaded !== null && loaded !== 'loading' && 'id' in loaded) return <Outputs execution={loaded} />
  const live = run.live.map((piece, at) => (
    <div key={at} class={piece.stream}>
      <Ansi text={piece.text} label={piece.stream === 'stderr' ? 'Error stream' : 'Printed text'} />
    </div>
  ))
  const isRefused = run.status === 'failed' && run.executionId === null
  const logs =
    live.length > 0 || run.logs === '' ? null : isRefused ? (
      <p class="failure">{run.logs}</p>
    ) : (
      <Ansi text={run.logs} label="Printed text" />
    )
  const failure = loaded !== null && loaded !== 'loading' ? <p class="notice">{loaded.failure}</p> : null
  return live.length > 0 || logs !== null || failure !== null ? (
    <div class="outputs">
      {live}
      {logs}
      {failure}
    </div>
  ) : null
}

function Usage({ id }: { readonly id: string }) {
  const loaded = executionSignal(id).value
  if (loaded === 'loading' || !('id' in loaded) || loaded.usage === null) return null
  return (
    <span class="usage" title="Time that the code ran, and the most memory that the sandbox used">
      {millisecondsText(loaded.usage.run_ms)} · {bytesText(loaded.usage.peak_memory_bytes)}
    </span>
  )
}
