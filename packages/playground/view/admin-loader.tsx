import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** Loads the administration when a person with its key opens the page. */
export function AdminLoader() {
  const [View, setView] = useState<ComponentType | null>(null)
  useEffect(() => void import('./admin-view.tsx').then(({ AdminView }) => setView(() => AdminView)), [])
  return View === null ? <p class="boot">Loading …</p> : <View />
}
