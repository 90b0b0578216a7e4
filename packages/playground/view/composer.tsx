import { draft, focusRequests, mode, type Mode } from '../state/composer.ts'
import { ask, isBusy, runCell, stopRun } from '../state/conversation.ts'
import { LANGUAGES } from '../state/languages.ts'
import { language } from '../state/preferences.ts'
import { uploadAll } from '../state/workspace.ts'
import { ComposerInput } from './composer-input.tsx'
import { Icon } from './icons.tsx'
import { Pickers } from './pickers.tsx'

/** Where a person asks, or writes code to run without a model. */
export function Composer() {
  const current = mode.value
  const text = draft.value[current]
  const submit = (): void => {
    if (text.trim() === '' || isBusy.value) return
    draft.value = { ...draft.value, [current]: '' }
    void (current === 'ask' ? ask(text) : runCell(text, language.value))
  }
  return (
    <form
      class={`composer ${current}`}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <div class="modes" role="group" aria-label="What to enter">
        {(['ask', 'code'] as const).map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={current === name}
            onClick={() => ((mode.value = name), (focusRequests.value += 1))}
          >
            {name === 'ask' ? 'Ask' : 'Run code'}
          </button>
        ))}
        {current === 'code' && <LanguagePicker />}
        <Pickers hasModel={current === 'ask'} />
      </div>
      <div class="composer-row">
        <label class="icon-button" title="Upload files">
          <Icon name="upload" />
          <span class="hidden">Upload files</span>
          <input class="hidden" type="file" multiple onChange={(event) => takeFiles(event.currentTarget)} />
        </label>
        <ComposerInput mode={current} onSubmit={submit} />
        <SubmitButton mode={current} isEmpty={text.trim() === ''} />
      </div>
    </form>
  )
}

function LanguagePicker() {
  return (
    <label class="language">
      <span class="hidden">Language</span>
      <select value={language.value} onChange={(event) => (language.value = event.currentTarget.value)}>
        {Object.entries(LANGUAGES).map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Sends or runs what was entered; stops what runs. */
function SubmitButton({ mode: current, isEmpty }: { readonly mode: Mode; readonly isEmpty: boolean }) {
  if (isBusy.value)
    return (
      <button type="button" class="primary" disabled={stopRun.value === null} onClick={() => void stopRun.value?.()} title="Stop">
        <Icon name="stop" />
        <span class="hidden">Stop</span>
      </button>
    )
  const label = current === 'ask' ? 'Send' : 'Run'
  return (
    <button type="submit" class="primary" disabled={isEmpty} title={label}>
      <Icon name={current === 'ask' ? 'send' : 'play'} />
      <span class="hidden">{label}</span>
    </button>
  )
}

function takeFiles(input: HTMLInputElement): void {
  const chosen = [...(input.files ?? [])]
  input.value = ''
  if (chosen.length > 0) void uploadAll(chosen)
}
