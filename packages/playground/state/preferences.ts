import { computed, effect, signal, type Signal } from '@preact/signals'

/** A setting that this browser keeps. It holds no secret. */
function kept(name: string, initial: string): Signal<string> {
  const value = signal(localStorage.getItem(`cellblock.${name}`) ?? initial)
  effect(() => localStorage.setItem(`cellblock.${name}`, value.value))
  return value
}

/** `system`, `light` or `dark`. */
export const theme = kept('theme', 'system')
export const model = kept('model', '')
export const memory = kept('memory', '1g')
/** Empty: the default image of the server. */
export const image = kept('image', '')
export const language = kept('language', 'python')

const systemDark = matchMedia('(prefers-color-scheme: dark)')
const isSystemDark = signal(systemDark.matches)
systemDark.addEventListener('change', ({ matches }) => (isSystemDark.value = matches))
/** Whether the page is dark now. */
export const isDark = computed(() => theme.value === 'dark' || (theme.value === 'system' && isSystemDark.value))

effect(() => {
  document.documentElement.dataset['theme'] = theme.value
})
