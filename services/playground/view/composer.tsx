import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { ask, isBusy, runCell, stopRun } from '../state/conversation.ts'
import { uploadAll } from '../state/workspace.ts'
import { Icon } from './icons.tsx'
import { Pickers } from './pickers.tsx'

type Mode = 'ask' | 'code'
const mode = signal<Mode>('ask')
const draft = signal<Readonly<Record<Mode, string>>>({ ask: '', code: '' })
const MAX_INPUT_HEIGHT = 260

/** Where a person asks, or writes code to run without a model. */
export function Composer() {
  const input = useRef<HTMLTextAreaElement>(null)
  const current = mode.value
  const text = draft.value[current]
  const setText = (value: string): void => void (draft.value = { ...draft.value, [current]: value })
  useEffect(() => {
    const element = input.current
    if (element === null) return
    element.style.height = 'auto'
    element.style.height = `${Math.min(MAX_INPUT_HEIGHT, element.scrollHeight)}px`
  }, [text, current])
  const submit = (): void => {
    if (text.trim() === '' || isBusy.value) return
    setText('')
    void (current === 'ask' ? ask(text) : runCell(text))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    // A message is sent by Enter; code takes lines, so it runs by Shift+Enter as in a notebook.
    if (event.key !== 'Enter' || event.isComposing || event.shiftKey !== (current === 'code')) return
    event.preventDefault()
    submit()
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
          <button key={name} type="button" aria-pressed={current === name} onClick={() => ((mode.value = name), input.current?.focus())}>
            {name === 'ask' ? 'Ask' : 'Run code'}
          </button>
        ))}
        <Pickers />
      </div>
      <div class="composer-row">
        <label class="icon-button" title="Upload files">
          <Icon name="upload" />
          <span class="hidden">Upload files</span>
          <input class="hidden" type="file" multiple onChange={(event) => takeFiles(event.currentTarget)} />
        </label>
        <textarea
          ref={input}
          rows={1}
          value={text}
          spellcheck={current === 'ask'}
          aria-label={current === 'ask' ? 'Message' : 'Python code'}
          placeholder={current === 'ask' ? 'Ask about your data …' : 'print("Shift+Enter runs this")'}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          onPaste={(event) => pasteFiles(event)}
        />
        <SubmitButton mode={current} isEmpty={text.trim() === ''} />
      </div>
    </form>
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

function pasteFiles(event: ClipboardEvent): void {
  const pasted = [...(event.clipboardData?.files ?? [])]
  if (pasted.length === 0) return
  event.preventDefault()
  void uploadAll(pasted)
}
