import { useState } from 'preact/hooks'
import { Ansi } from '../render/ansi.tsx'
import { Code } from '../render/code.tsx'
import { bytesText, millisecondsText } from '../render/format.ts'
import { Outputs } from '../render/outputs.tsx'
import { editCode } from '../state/composer.ts'
import { LANGUAGES } from '../state/languages.ts'
import { executionSignal } from '../state/executions.ts'
import type { CodeRun } from '../state/timeline.ts'
import { Icon } from './icons.tsx'

const LABELS: Readonly<Record<CodeRun['status'], string>> = {
  writing: 'Writing code',
  queued: 'Waiting for a sandbox',
  starting: 'Starting a sandbox',
  running: 'Running',
  succeeded: 'Done',
  failed: 'Failed',
  timed_out: 'Timed out',
  cancelled: 'Stopped',
}
const ACTIVE: readonly string[] = ['writing', 'queued', 'starting', 'running']
/** Longer code is folded while it is not read. */
const FOLDED_LINES = 24

/** One notebook cell: the code, what it prints while it runs, and its outputs. */
export function RunView({ run }: { readonly run: CodeRun }) {
  const lines = run.code.split('\n').length
  const [isOpen, setOpen] = useState(false)
  const isFolded = lines > FOLDED_LINES && !isOpen && run.status !== 'writing'
  const code = isFolded
    ? run.code
        .split('\n')
        .slice(0, FOLDED_LINES / 2)
        .join('\n')
    : run.code
  const isActive = ACTIVE.includes(run.status)
  return (
    <section class={`cell ${isActive ? 'active' : run.status}`} aria-label={`Code cell: ${LABELS[run.status]}`}>
      <header class="cell-head">
        <span class="cell-language">{LANGUAGES[run.language] ?? run.language}</span>
        <span class={`state ${run.status}`}>
          {isActive && <span class="spinner" aria-hidden="true" />}
          {LABELS[run.status]}
        </span>
        {run.executionId !== null && <Usage id={run.executionId} />}
        {!isActive && (
          <button type="button" class="icon-button small" onClick={() => editCode(run.code, run.language)} title="Edit and run again">
            <Icon name="edit" />
            <span class="hidden">Edit and run again</span>
          </button>
        )}
      </header>
      <Code text={code} language={run.language} />
      {lines > FOLDED_LINES && run.status !== 'writing' && (
        <button type="button" class="fold" aria-expanded={!isFolded} onClick={() => setOpen(!isOpen)}>
          {isFolded ? `Show all ${lines} lines` : 'Show less'}
        </button>
      )}
      <Results run={run} />
    </section>
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
  const logs = live.length === 0 && run.logs !== '' ? <Ansi text={run.logs} label="Printed text" /> : null
  const failure = loaded !== null && loaded !== 'loading' ? <p class="failure">{loaded.failure}</p> : null
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
