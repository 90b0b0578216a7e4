import { attachments, dropAttachment, uploadAll, type Attachment } from '../state/attachments.ts'
import { runCell } from '../state/cells.ts'
import { draft, mode, setDraft, setMode, type Mode } from '../state/composer.ts'
import { isBusy, stopRun } from '../state/conversation.ts'
import { LANGUAGES } from '../state/languages.ts'
import { blindModels, offeredLanguages } from '../state/models.ts'
import { language, model } from '../state/preferences.ts'
import { ask } from '../state/turns.ts'
import { bytesText } from '../render/format.ts'
import { ComposerInput } from './composer-input.tsx'
import { Icon } from '../render/icons.tsx'
import { ModelPicker, SandboxSettings } from './pickers.tsx'

/** Where a person asks, or writes code to run without a model. */
export function Composer() {
  const current = mode.value
  const text = draft.value[current]
  const submit = (): void => {
    if (text.trim() === '' || isBusy.value) return
    setDraft(current, '')
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
      <Attachments />
      {current === 'ask' && <PictureHint />}
      <ComposerInput mode={current} onSubmit={submit} />
      <div class="composer-row">
        <label class="icon-button" title="Attach files">
          <Icon name="plus" />
          <span class="hidden">Attach files</span>
          <input class="hidden" type="file" multiple onChange={(event) => takeFiles(event.currentTarget)} />
        </label>
        <div class="modes" role="group" aria-label="What to enter">
          {(['ask', 'code'] as const).map((name) => (
            <button key={name} type="button" aria-pressed={current === name} onClick={() => setMode(name)}>
              {name === 'ask' ? 'Ask' : 'Run code'}
            </button>
          ))}
        </div>
        {current === 'code' ? <LanguagePicker /> : <ModelPicker />}
        <span class="space" />
        <SandboxSettings />
        <SubmitButton mode={current} isEmpty={text.trim() === ''} />
      </div>
    </form>
  )
}

function LanguagePicker() {
  return (
    <label class="picker">
      <span class="hidden">Language</span>
      <select value={language.value} onChange={(event) => (language.value = event.currentTarget.value)}>
        {offeredLanguages.value.map((id) => (
          <option key={id} value={id}>
            {LANGUAGES[id] ?? id}
          </option>
        ))}
      </select>
    </label>
  )
}

function Attachments() {
  if (attachments.value.length === 0) return null
  return (
    <ul class="attachments" aria-label="Attached files">
      {attachments.value.map((attachment) => (
        <li key={attachment.key} class={`attachment ${attachment.failure === null ? '' : 'failed'}`}>
          {attachment.picture === null ? <Icon name="file" /> : <img src={attachment.picture} alt="" />}
          <span>{attachment.name}</span>
          <small role="status">{stateOf(attachment)}</small>
          {attachment.share < 1 && attachment.failure === null && (
            <progress value={attachment.share} max={1} aria-label={`Upload of ${attachment.name}`} />
          )}
          <button type="button" class="icon-button small" onClick={() => dropAttachment(attachment)} title="Remove">
            <Icon name="close" />
            <span class="hidden">
              {attachment.share < 1 && attachment.failure === null ? 'Stop the upload of' : 'Remove'} {attachment.name}
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}

/** A picture stays a file for code when the model sees none. */
function PictureHint() {
  const isUnseen = blindModels.value.includes(model.value) && attachments.value.some(({ picture }) => picture !== null)
  return isUnseen ? (
    <p class="hint" role="status">
      The model {model.value} sees no pictures. Its code can open the file.
    </p>
  ) : null
}

const stateOf = ({ failure, share, bytes }: Attachment): string =>
  failure ?? (share < 1 ? `${Math.floor(share * 100)} % of ${bytesText(bytes)}` : bytesText(bytes))

/** Sends or runs what was entered; stops what runs. */
function SubmitButton({ mode: current, isEmpty }: { readonly mode: Mode; readonly isEmpty: boolean }) {
  if (isBusy.value)
    return (
      <button type="button" class="primary" disabled={stopRun.value === null} onClick={() => void stopRun.value?.()} title="Stop (Escape)">
        <Icon name="stop" />
        <span class="hidden">Stop</span>
      </button>
    )
  const label = current === 'ask' ? 'Send' : 'Run'
  return (
    <button type="submit" class="primary" disabled={isEmpty} title={`${label} (Ctrl+Enter)`}>
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
