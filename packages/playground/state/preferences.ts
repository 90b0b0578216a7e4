import { computed, effect, signal, type Signal } from '@preact/signals'

const PREFIX = 'cellblock.'

const settings = new Set<string>()

/** A setting that this browser keeps. It holds no secret and no text of a person. */
function kept(name: string, initial: string): Signal<string> {
  settings.add(PREFIX + name)
  const value = signal(localStorage.getItem(PREFIX + name) ?? initial)
  effect(() => localStorage.setItem(PREFIX + name, value.value))
  return value
}

/** Removes everything of the person that this browser keeps; only settings stay. */
export function forgetAll(): void {
  for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX) && !settings.has(key)) localStorage.removeItem(key)
}

const THEMES = ['system', 'light', 'dark'] as const
/** One of THEMES. */
export const theme = kept('theme', 'system')
/** Chooses the theme that follows. */
export const changeTheme = (): void => {
  theme.value = THEMES[(THEMES.indexOf(theme.value as 'system') + 1) % THEMES.length] ?? 'system'
}
export const model = kept('model', '')
export const memory = kept('memory', '1g')
/** Empty: the default image of the server. */
export const image = kept('image', '')
export const language = kept('language', 'python')
export const keptMode = kept('mode', 'ask')
/** `open` or `closed`, on a wide screen. */
export const sidebar = kept('sidebar', 'open')
/** `auto`: open once the chat has files; `open` or `closed` after a person chose. */
export const filesPanel = kept('files', 'auto')

const systemDark = matchMedia('(prefers-color-scheme: dark)')
const isSystemDark = signal(systemDark.matches)
systemDark.addEventListener('change', ({ matches }) => (isSystemDark.value = matches))
/** Whether the page is dark now. */
export const isDark = computed(() => theme.value === 'dark' || (theme.value === 'system' && isSystemDark.value))

effect(() => {
  document.documentElement.dataset['theme'] = theme.value
})
