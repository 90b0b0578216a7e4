import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'

/** A component whose code is loaded after the first paint; it shows nothing until then. */
export function lazily<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const loaded = signal<ComponentType<Props> | null>(null)
  const start = (): void => void load().then((found) => (loaded.value = found))
  if (document.readyState === 'complete') start()
  else addEventListener('load', start)
  return function Lazy(props: Props) {
    const View = loaded.value
    return View === null ? null : <View {...props} />
  }
}
