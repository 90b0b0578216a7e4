import { useEffect, useState } from 'preact/hooks'
import type { RunSummary } from '../api/types.ts'
import { Icon } from '../render/icons.tsx'
import { Outputs } from '../render/outputs.tsx'
import { executionSignal } from '../state/executions.ts'
import { loadRuns, runs, runsFailure, textsOf } from '../state/runs.ts'

/** The newest runs of the key, also those of the API and the command line, and what each of them printed. */
export function RunsView() {
  useEffect(() => void loadRuns(), [])
  if (runs.value === null && runsFailure.value === null) return <p>Loading …</p>
  return (
    <>
      {runsFailure.value !== null && <p class="failure">{runsFailure.value}</p>}
      <p>
        The newest runs of your 50 newest containers, also of programs.{' '}
        <button type="button" class="plain" onClick={() => void loadRuns()}>
          <Icon name="retry" /> Read again
        </button>
      </p>
      <ul class="run-list" aria-label="Runs">
        {runs.value?.map((run) => (
          <RunRow key={run.id} run={run} />
        ))}
        {runs.value?.length === 0 && <li class="empty">Nothing has run yet.</li>}
      </ul>
    </>
  )
}

function RunRow({ run }: { readonly run: RunSummary }) {
  const [isOpen, setOpen] = useState(false)
  const { at, language, end, time } = textsOf(run)
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class={`state ${run.status}`}>{end}</span> {language} {time !== '' && `· ${time} `}
          <small>
            {at} · {run.id}
          </small>
        </summary>
        {isOpen && <Log id={run.id} />}
      </details>
    </li>
  )
}

function Log({ id }: { readonly id: string }) {
  const loaded = executionSignal(id).value
  if (loaded === 'loading') return <p>Loading …</p>
  if ('failure' in loaded) return <p class="notice">{loaded.failure}</p>
  const isSilent = (loaded.outputs ?? []).length === 0 && loaded.files.length === 0 && loaded.status === 'succeeded'
  return isSilent ? <p>It printed nothing.</p> : <Outputs execution={loaded} />
}
