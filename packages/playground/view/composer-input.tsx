import type { TargetedKeyboardEvent } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { draft, focusRequests, type Mode } from '../state/composer.ts'
import { LANGUAGES } from '../state/languages.ts'
import { language } from '../state/preferences.ts'
import { uploadAll } from '../state/workspace.ts'

const MAX_INPUT_HEIGHT = 260
const INDENT = '    '
const HELP = 'Shift+Enter runs the code. Tab indents; press Escape first to leave with Tab.'

/** The message, or an editor that keeps the indent of code. It grows with its text. */
export function ComposerInput({ mode, onSubmit }: { readonly mode: Mode; readonly onSubmit: () => void }) {
  const input = useRef<HTMLTextAreaElement>(null)
  const tabLeaves = useRef(false)
  const isCode = mode === 'code'
  const text = draft.value[mode]
  const setText = (value: string): void => void (draft.value = { ...draft.value, [mode]: value })
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
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.isComposing) return
    // A message is sent by Enter; code takes lines, so it runs by Shift+Enter as in a notebook.
    if (event.key === 'Enter' && event.shiftKey === isCode) {
      event.preventDefault()
      return onSubmit()
    }
    if (!isCode || event.ctrlKey || event.altKey || event.metaKey) return
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
    <textarea
      ref={input}
      rows={1}
      value={text}
      spellcheck={!isCode}
      aria-label={isCode ? `${LANGUAGES[language.value] ?? ''} code` : 'Message'}
      aria-description={isCode ? HELP : undefined}
      placeholder={isCode ? 'Shift+Enter runs the code' : 'Ask about your data …'}
      onInput={(event) => setText(event.currentTarget.value)}
      onKeyDown={onKeyDown}
      onPaste={(event) => pasteFiles(event)}
    />
  )
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
