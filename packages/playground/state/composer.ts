import { computed, effect, signal } from '@preact/signals'
import { currentChat } from './chats.ts'
import { keptMode, language } from './preferences.ts'

export type Mode = 'ask' | 'code'
type Draft = Readonly<Record<Mode, string>>

const KEY = 'cellblock.drafts'
const MAX_DRAFTS = 20
const EMPTY: Draft = { ask: '', code: '' }

/** What is typed and not sent, by chat. */
const drafts = signal<Readonly<Record<string, Draft>>>(stored())

function stored(): Record<string, Draft> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}') as Record<string, Draft>
  } catch {
    return {}
  }
}
effect(() => {
  const kept = Object.entries(drafts.value).filter(([, { ask, code }]) => ask !== '' || code !== '')
  localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(kept.slice(-MAX_DRAFTS))))
})

const NEW = 'new'
const place = (): string => currentChat.value.id ?? NEW
let shown = currentChat.value
// A new chat gets its id with its first file, while the message is typed.
effect(() => {
  const { key, id } = currentChat.value
  const { [NEW]: typed, ...others } = drafts.peek()
  if (key === shown.key && shown.id === null && id !== null && typed !== undefined) drafts.value = { ...others, [id]: typed }
  shown = currentChat.value
})
export const draft = computed<Draft>(() => drafts.value[place()] ?? EMPTY)
export const setDraft = (name: Mode, text: string): void => {
  drafts.value = { ...drafts.value, [place()]: { ...draft.value, [name]: text } }
}

export const mode = computed<Mode>(() => (keptMode.value === 'code' ? 'code' : 'ask'))
export const setMode = (name: Mode): void => {
  keptMode.value = name
  requestFocus()
}

/** Counts the requests to move the focus into the input. */
export const focusRequests = signal(0)
export const requestFocus = (): void => void (focusRequests.value += 1)

/** Puts code into the editor, for a change and another run. */
export function editCode(code: string, codeLanguage: string): void {
  language.value = codeLanguage
  setDraft('code', code)
  setMode('code')
}
