import { signal } from '@preact/signals'
import type { TargetedKeyboardEvent } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { uploadAll } from '../state/attachments.ts'
import { draft, focusRequests, setDraft, type Mode } from '../state/composer.ts'
import { entries } from '../state/conversation.ts'
import { completionsOf } from '../state/kernel.ts'
import { LANGUAGES } from '../state/languages.ts'
import { language } from '../state/preferences.ts'

/** What was sent before in this chat, the latest first, each once. */
function sentBefore(mode: Mode): readonly string[] {
  const texts = entries.value.flatMap((entry) => {
    if (mode === 'ask') return entry.kind === 'user' ? [entry.text] : []
    return entry.kind === 'cell' && entry.run.language === language.value ? [entry.run.code] : []
  })
  return [...new Set(texts.toReversed())]
}

/**
 * The text that an arrow key brings back, as in a shell: from an empty field, or from an earlier text that was not changed, at its first or last line.
 * Null for every other key.
 */
function earlierText({ key, currentTarget }: TargetedKeyboardEvent<HTMLTextAreaElement>, mode: Mode): string | null {
  const { value, selectionStart, selectionEnd } = currentTarget
  const step = key === 'ArrowUp' ? 1 : key === 'ArrowDown' ? -1 : 0
  if (step === 0 || selectionStart !== selectionEnd) return null
  if (step === 1 ? value.slice(0, selectionStart).includes('\n') : value.slice(selectionStart).includes('\n')) return null
  const texts = sentBefore(mode)
  const at = texts.indexOf(value)
  if (value !== '' && at === -1) return null
  return at + step === -1 ? '' : (texts[at + step] ?? null)
}

const MAX_INPUT_HEIGHT = 260
const INDENT = '    '
const HELP = 'Shift+Enter runs the code. Tab indents; press Escape first to leave with Tab.'

/** Names that the kernel offers for the beginning that was typed. */
const offered = signal<readonly string[]>([])

/** A field that grows with its text, and gets the focus when it is requested. */
function useGrowingInput(text: string, mode: Mode) {
  const input = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    const element = input.current
    if (element === null) return
    element.style.height = 'auto'
    element.style.height = `${Math.min(MAX_INPUT_HEIGHT, element.scrollHeight)}px`
  }, [text, mode])
  const request = focusRequests.value
  useLayoutEffect(() => {
    if (request > 0) input.current?.focus()
  }, [request])
  return input
}

/** The message, or an editor that keeps the indent of code. */
export function ComposerInput({ mode, onSubmit }: { readonly mode: Mode; readonly onSubmit: () => void }) {
  const tabLeaves = useRef(false)
  const isCode = mode === 'code'
  const text = draft.value[mode]
  const input = useGrowingInput(text, mode)
  const setText = (value: string): void => setDraft(mode, value)
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.isComposing) return
    // A message is sent by Enter; code takes lines, so it runs by Shift+Enter as in a notebook.
    if (event.key === 'Enter' && (event.shiftKey === isCode || event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      return onSubmit()
    }
    const hasModifier = event.ctrlKey || event.altKey || event.metaKey
    const earlier = hasModifier || event.shiftKey ? null : earlierText(event, mode)
    if (earlier !== null) {
      event.preventDefault()
      return setText(earlier)
    }
    if (isCode && language.value === 'python' && event.ctrlKey && event.key === ' ') {
      event.preventDefault()
      return void completeHere(event.currentTarget, setText)
    }
    if (!isCode || hasModifier) return
    const inserted = insertedBy(event, tabLeaves.current)
    // After Escape, the next Tab moves the focus: the editor holds no keyboard user back.
    tabLeaves.current = event.key === 'Escape'
    if (inserted === null) return
    event.preventDefault()
    const { currentTarget: element } = event
    element.setRangeText(inserted, element.selectionStart, element.selectionEnd, 'end')
    setText(element.value)
  }
  return (
    <>
      {offered.value.length > 0 && isCode && (
        <p class="offered" role="status">
          {offered.value.join('  ')}
        </p>
      )}
      <textarea
        ref={input}
        rows={1}
        value={text}
        spellcheck={!isCode}
        aria-label={isCode ? `${LANGUAGES[language.value] ?? ''} code` : 'Message'}
        aria-description={isCode ? HELP : undefined}
        placeholder={isCode ? 'Shift+Enter runs the code' : 'Ask about your data …'}
        onInput={(event) => ((offered.value = []), setText(event.currentTarget.value))}
        onKeyDown={onKeyDown}
        onPaste={(event) => pasteFiles(event)}
      />
    </>
  )
}

async function completeHere(element: HTMLTextAreaElement, setText: (text: string) => void): Promise<void> {
  offered.value = await completeAt(element)
  setText(element.value)
}

/** What both texts begin with. */
function sharedStart(a: string, b: string): string {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return a.slice(0, length)
}

/** Completes the name at the cursor from the kernel: as far as all names agree. Returns the names when there are several. */
export async function completeAt(element: HTMLTextAreaElement): Promise<readonly string[]> {
  const { selectionStart: cursor, value } = element
  const { start, names } = await completionsOf(value, cursor).catch(() => ({ start: cursor, names: [] as readonly string[] }))
  if (names.length === 0 || element.value !== value) return []
  const shared = names.reduce(sharedStart)
  if (shared.length > cursor - start) element.setRangeText(shared, start, cursor, 'end')
  return names.length === 1 ? [] : names
}

/** What an editor inserts for a key: an indent, or a line that begins as far in as the last one; null for every other key. */
function insertedBy({ key, shiftKey, currentTarget }: TargetedKeyboardEvent<HTMLTextAreaElement>, tabLeaves: boolean): string | null {
  if (key === 'Tab' && !shiftKey && !tabLeaves) return INDENT
  if (key !== 'Enter') return null
  const line = currentTarget.value.slice(0, currentTarget.selectionStart).split('\n').at(-1) ?? ''
  return `\n${/^\s*/.exec(line)?.[0] ?? ''}${/[:{([]\s*$/.test(line) ? INDENT : ''}`
}

function pasteFiles(event: ClipboardEvent): void {
  const pasted = [...(event.clipboardData?.files ?? [])]
  if (pasted.length === 0) return
  event.preventDefault()
  void uploadAll(pasted)
}
