import { startChat } from '../state/chats.ts'
import { requestFocus } from '../state/composer.ts'
import { stopRun } from '../state/conversation.ts'
import { openDialog } from './dialogs.tsx'

interface Panels {
  /** What Escape does when nothing else is open. */
  readonly closeDrawer: () => void
  readonly openMenu: () => void
  readonly toggleMenu: () => void
}

/** Listens for the shortcuts of the whole page. */
export function watchKeys(until: AbortSignal, panels: Panels): void {
  addEventListener('keydown', (event) => onKey(event, panels), { signal: until })
}

function onKey(event: KeyboardEvent, panels: Panels): void {
  if (event.defaultPrevented || event.isComposing) return
  const hasControl = event.ctrlKey || event.metaKey
  if (event.key === 'Escape') {
    // A dialog or a menu takes the key itself.
    if (document.querySelector('dialog[open], :popover-open') !== null) return
    panels.closeDrawer()
    void stopRun.value?.()
    return
  }
  if (!hasControl) return
  const act = ACTIONS[`${event.shiftKey ? 'shift+' : ''}${event.key.toLowerCase()}`]
  if (act === undefined) return
  event.preventDefault()
  act(panels)
}

const ACTIONS: Readonly<Record<string, (panels: Panels) => void>> = {
  k: ({ openMenu }) => {
    openMenu()
    // A closed panel takes the focus once it is drawn.
    requestAnimationFrame(() => document.querySelector<HTMLInputElement>('#chat-search')?.focus())
  },
  b: ({ toggleMenu }) => toggleMenu(),
  'shift+o': () => (startChat(), requestFocus()),
  '/': () => openDialog('shortcuts'),
}
