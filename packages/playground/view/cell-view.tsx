import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { sharedToken } from '../session.ts'
import { runCell } from '../state/cells.ts'
import { isBusy } from '../state/conversation.ts'
import type { CellEntry } from '../state/timeline.ts'
import { completeAt } from './composer-input.tsx'
import { focusOnce } from './focus-once.ts'
import { Icon } from '../render/icons.tsx'
import { RunView } from './run-view.tsx'

/** The cell that is being changed. */
const edited = signal<string | null>(null)

/** Code that a person ran: it can be changed in place, and run again. */
export function CellView({ cell }: { readonly cell: CellEntry }) {
  const { run } = cell
  const isEdited = edited.value === cell.key
  return (
    <RunView
      run={run}
      editor={isEdited ? <CellEditor cell={cell} /> : undefined}
      actions={
        sharedToken === null && (
          <>
            <button
              type="button"
              class="icon-button small"
              onClick={() => (edited.value = isEdited ? null : cell.key)}
              aria-pressed={isEdited}
              title="Edit and run again"
            >
              <Icon name="edit" />
              <span class="hidden">Edit and run again</span>
            </button>
            <button
              type="button"
              class="icon-button small"
              disabled={isBusy.value}
              onClick={() => void runCell(run.code, run.language, cell)}
              title="Run again"
            >
              <Icon name="play" />
              <span class="hidden">Run again</span>
            </button>
          </>
        )
      }
    />
  )
}

function CellEditor({ cell }: { readonly cell: CellEntry }) {
  const { code, language } = cell.run
  const [names, setNames] = useState<readonly string[]>([])
  const submit = (text: string): void => {
    if (text.trim() === '' || isBusy.value) return
    edited.value = null
    void runCell(text, language, cell)
  }
  return (
    <>
      <textarea
        class="cell-editor"
        aria-label="Code of the cell"
        aria-description="Shift+Enter runs the code. Escape leaves it as it was."
        spellcheck={false}
        rows={Math.min(30, code.split('\n').length + 1)}
        defaultValue={code}
        ref={focusOnce}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.shiftKey || event.ctrlKey || event.metaKey)) {
            event.preventDefault()
            submit(event.currentTarget.value)
          }
          if (event.ctrlKey && event.key === ' ' && language === 'python') {
            event.preventDefault()
            void completeAt(event.currentTarget).then(setNames)
          }
          if (event.key !== 'Escape') return
          event.stopPropagation()
          edited.value = null
        }}
      />
      {names.length > 0 && (
        <p class="offered" role="status">
          {names.join('  ')}
        </p>
      )}
    </>
  )
}
