import { effect, signal, type Signal } from '@preact/signals'

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

effect(() => {
  document.documentElement.dataset['theme'] = theme.value
})
