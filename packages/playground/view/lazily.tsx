import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'

/** A component whose code is loaded after the first paint; it shows nothing until then. */
export function lazily<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const loaded = signal<ComponentType<Props> | null>(null)
  const start = (): void => void load().then((found) => (loaded.value = found))
  new PerformanceObserver((paints, observer) => {
    if (paints.getEntriesByName('first-contentful-paint').length === 0) return
    observer.disconnect()
    start()
  }).observe({ type: 'paint', buffered: true })
  return function Lazy(props: Props) {
    const View = loaded.value
    return View === null ? null : <View {...props} />
  }
}
