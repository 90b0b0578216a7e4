import { untracked, useSignalEffect } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { currentChat, currentId } from '../state/chat-store.ts'
import { connection, loadChat } from '../state/conversation.ts'
import { isTerminalOpen } from '../state/terminal.ts'
import { uploadAll } from '../state/workspace.ts'
import { Composer } from './composer.tsx'
import { FilesPanel } from './files-panel.tsx'
import { Icon } from './icons.tsx'
import { loadChoices } from './pickers.tsx'
import { Sidebar } from './sidebar.tsx'
import { TerminalPanel } from './terminal-panel.tsx'
import { Timeline } from './timeline-view.tsx'

type Drawer = 'menu' | 'files' | null

/** The signed-in page: chats and containers, the conversation, and the files of its container. */
export function Shell() {
  // Side panels are drawers on a narrow screen.
  const [drawer, setDrawer] = useState<Drawer>(null)
  const [isDropping, setDropping] = useState(false)
  useEffect(() => void loadChoices().catch(() => undefined), [])
  useSignalEffect(() => {
    // Only the choice of another chat loads; a change of this one does not.
    if (currentId.value !== '') untracked(() => void loadChat(currentChat.value))
  })
  useEffect(() => watchDrops(setDropping), [])
  const close = (): void => setDrawer(null)
  return (
    <div class={`shell ${drawer === null ? '' : `open-${drawer}`}`} onKeyDown={(event) => event.key === 'Escape' && close()}>
      <a class="skip" href="#main">
        Skip to the conversation
      </a>
      <Sidebar onClose={close} />
      <main id="main">
        <header class="bar">
          <button type="button" class="icon-button narrow" onClick={() => setDrawer('menu')} aria-expanded={drawer === 'menu'} title="Menu">
            <Icon name="menu" />
            <span class="hidden">Chats and containers</span>
          </button>
          <h1>{currentChat.value.title}</h1>
          {connection.value === 'lost' && <span class="lost-connection">Connection lost. Reconnecting …</span>}
          <button
            type="button"
            class="icon-button"
            aria-pressed={isTerminalOpen.value}
            onClick={() => (isTerminalOpen.value = !isTerminalOpen.value)}
            title="Terminal"
          >
            <Icon name="terminal" />
            <span class="hidden">Terminal</span>
          </button>
          <button
            type="button"
            class="icon-button narrow"
            onClick={() => setDrawer('files')}
            aria-expanded={drawer === 'files'}
            title="Files"
          >
            <Icon name="files" />
            <span class="hidden">Files</span>
          </button>
        </header>
        <Timeline />
        {isTerminalOpen.value && <TerminalPanel key={currentId.value} />}
        <Composer />
      </main>
      <FilesPanel onClose={close} />
      {drawer !== null && <button type="button" class="backdrop" aria-label="Close" onClick={close} />}
      {isDropping && <div class="drop-target">Drop to upload</div>}
    </div>
  )
}

/** Files dropped anywhere on the page are uploaded. */
function watchDrops(setDropping: (isDropping: boolean) => void): () => void {
  const listening = new AbortController()
  const { signal } = listening
  const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') === true
  addEventListener('dragover', (event) => hasFiles(event) && (event.preventDefault(), setDropping(true)), { signal })
  addEventListener('dragleave', (event) => event.relatedTarget === null && setDropping(false), { signal })
  addEventListener(
    'drop',
    (event) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setDropping(false)
      void uploadAll([...(event.dataTransfer?.files ?? [])])
    },
    { signal },
  )
  return () => listening.abort()
}
