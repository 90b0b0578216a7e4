import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../render/icons.tsx'

type DialogName = 'share' | 'shortcuts' | 'containers' | 'runs' | 'account'

const TITLES: Readonly<Record<DialogName, string>> = {
  share: 'Share this chat',
  shortcuts: 'Keyboard shortcuts',
  containers: 'Containers',
  runs: 'Runs',
  account: 'Your key and usage',
}
const VIEWS: Readonly<Record<DialogName, () => Promise<ComponentType>>> = {
  share: async () => (await import('./share-view.tsx')).ShareView,
  shortcuts: async () => (await import('./shortcuts-view.tsx')).ShortcutsView,
  containers: async () => (await import('./containers-view.tsx')).ContainersView,
  runs: async () => (await import('./runs-view.tsx')).RunsView,
  account: async () => (await import('./account-view.tsx')).AccountView,
}

const current = signal<DialogName | null>(null)
export const openDialog = (name: DialogName): void => void (current.value = name)

/** The dialog that is open, if any; its content is loaded then. */
export const Dialogs = () => (current.value === null ? null : <Dialog key={current.value} name={current.value} />)

function Dialog({ name }: { readonly name: DialogName }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [View, setView] = useState<ComponentType | null>(null)
  useEffect(() => {
    dialog.current?.showModal()
    void VIEWS[name]().then((found) => setView(() => found))
  }, [name])
  return (
    <dialog ref={dialog} class="preview dialog" aria-label={TITLES[name]} onClose={() => (current.value = null)}>
      <header>
        <h2>{TITLES[name]}</h2>
        <button type="button" class="icon-button" autofocus onClick={() => dialog.current?.close()} title="Close">
          <Icon name="close" />
          <span class="hidden">Close</span>
        </button>
      </header>
      <div class="preview-body">{View === null ? <p>Loading …</p> : <View />}</div>
    </dialog>
  )
}
