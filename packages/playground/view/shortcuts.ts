import { startChat } from '../state/chats.ts'
import { requestFocus } from '../state/composer.ts'
import { stopRun } from '../state/conversation.ts'
import { openDialog } from './dialogs.tsx'

/** Listens for the shortcuts of the whole page. `closeDrawer`: what Escape does when nothing else is open. */
export function watchKeys(until: AbortSignal, closeDrawer: () => void): void {
  addEventListener('keydown', (event) => onKey(event, closeDrawer), { signal: until })
}

function onKey(event: KeyboardEvent, closeDrawer: () => void): void {
  if (event.defaultPrevented || event.isComposing) return
  const hasControl = event.ctrlKey || event.metaKey
  if (event.key === 'Escape') {
    // A dialog or a menu takes the key itself.
    if (document.querySelector('dialog[open], :popover-open') !== null) return
    closeDrawer()
    void stopRun.value?.()
    return
  }
  if (!hasControl) return
  const act = ACTIONS[`${event.shiftKey ? 'shift+' : ''}${event.key.toLowerCase()}`]
  if (act === undefined) return
  event.preventDefault()
  act()
}

const ACTIONS: Readonly<Record<string, () => void>> = {
  k: () => document.querySelector<HTMLInputElement>('#chat-search')?.focus(),
  'shift+o': () => (startChat(), requestFocus()),
  '/': () => openDialog('shortcuts'),
}
