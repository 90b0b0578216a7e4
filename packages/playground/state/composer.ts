import { signal } from '@preact/signals'
import { language } from './preferences.ts'

export type Mode = 'ask' | 'code'

export const mode = signal<Mode>('ask')
export const draft = signal<Readonly<Record<Mode, string>>>({ ask: '', code: '' })
/** Counts the requests to move the focus into the input. */
export const focusRequests = signal(0)

/** Puts code into the editor, for a change and another run. */
export function editCode(code: string, codeLanguage: string): void {
  language.value = codeLanguage
  mode.value = 'code'
  draft.value = { ...draft.value, code }
  focusRequests.value += 1
}
