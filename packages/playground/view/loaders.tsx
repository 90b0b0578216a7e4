import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** A view whose code is loaded when a person opens it. */
const loader = (load: () => Promise<ComponentType>) =>
  function Loader() {
    const [View, setView] = useState<ComponentType | null>(null)
    useEffect(() => void load().then((found) => setView(() => found)), [])
    return View === null ? <p class="boot">Loading …</p> : <View />
  }

export const AdminLoader = loader(async () => (await import('./admin-view.tsx')).AdminView)
export const SharedLoader = loader(async () => (await import('./shared-view.tsx')).SharedView)
