import { computed, effect, signal, untracked, useSignalEffect } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { attachments, uploadAll } from '../state/attachments.ts'
import { currentChat, openAddress } from '../state/chats.ts'
import { requestFocus } from '../state/composer.ts'
import { isBusy } from '../state/conversation.ts'
import { loadChat, refreshAll } from '../state/history.ts'
import { loadChoices } from '../state/models.ts'
import { filesPanel, sidebar } from '../state/preferences.ts'
import { isAppOpen } from '../state/ports.ts'
import { isTerminalOpen } from '../state/terminal.ts'
import { pending, settle } from '../state/undo.ts'
import { files } from '../state/workspace.ts'
import { ChatHeader } from './chat-header.tsx'
import { Composer } from './composer.tsx'
import { Dialogs } from './dialogs.tsx'
import { FilesPanel } from './files-panel.tsx'
import { lazily } from './lazily.tsx'
import { Sidebar } from './sidebar.tsx'
import { watchKeys } from './shortcuts.ts'
import { TerminalPanel } from './terminal-panel.tsx'
import { Timeline } from './timeline-view.tsx'

const AppPanel = lazily(async () => (await import('./app-panel.tsx')).AppPanel)

/** The side panel that is open on a narrow screen, where they are drawers. */
const drawer = signal<'menu' | 'files' | null>(null)
const isDropping = signal(false)
const currentKey = computed(() => currentChat.value.key)
/** The list is read again this often while the page is in view, milliseconds. */
const REFRESH_MS = 20_000
const NARROW = '(max-width: 1080px)'

const close = (): void => void (drawer.value = null)
const isNarrow = (): boolean => matchMedia(NARROW).matches

function toggleMenu(): void {
  if (isNarrow()) drawer.value = 'menu'
  else sidebar.value = sidebar.value === 'open' ? 'closed' : 'open'
}
function openMenu(): void {
  if (isNarrow()) drawer.value = 'menu'
  else sidebar.value = 'open'
}

function toggleFiles(): void {
  if (isNarrow()) drawer.value = 'files'
  else filesPanel.value = isPanelOpen() ? 'closed' : 'open'
}
const isPanelOpen = (): boolean => filesPanel.value === 'open' || (filesPanel.value === 'auto' && files.value.length > 0)

const shellClasses = (): string =>
  `shell ${drawer.value === null ? '' : `open-${drawer.value}`} ${isPanelOpen() ? 'with-files' : ''} ${sidebar.value === 'open' ? '' : 'without-menu'}`

/** The signed-in page: chats, the conversation, and the files of its container. */
export function Shell() {
  useEffect(() => void loadChoices().catch(() => undefined), [])
  useEffect(() => void openAddress(), [])
  // A person with a keyboard types at once; on a phone the focus would open the keyboard.
  useEffect(() => (matchMedia('(hover: hover)').matches ? requestFocus() : undefined), [])
  useSignalEffect(() => {
    // Only another chat loads; a change of this one does not.
    if (currentKey.value !== '') untracked(() => ((attachments.value = []), void loadChat(currentChat.value)))
  })
  useEffect(() => watchPage(), [])
  return (
    <div class={shellClasses()}>
      <Sidebar onClose={close} />
      <main id="main">
        <ChatHeader
          isMenuOpen={isNarrow() ? drawer.value === 'menu' : sidebar.value === 'open'}
          isPanelOpen={isNarrow() ? drawer.value === 'files' : isPanelOpen()}
          onMenu={toggleMenu}
          onFiles={toggleFiles}
        />
        <Timeline />
        {isAppOpen.value && currentChat.value.containerId !== null && (
          <AppPanel key={currentChat.value.containerId} containerId={currentChat.value.containerId} />
        )}
        {isTerminalOpen.value && <TerminalPanel key={currentChat.value.key} />}
        <Composer />
      </main>
      <FilesPanel onClose={close} />
      {drawer.value !== null && <button type="button" class="backdrop" aria-label="Close" onClick={close} />}
      {isDropping.value && <div class="drop-target">Drop to attach</div>}
      <Undo />
      <Dialogs />
    </div>
  )
}

function Undo() {
  const action = pending.value
  return (
    <div class="toast" role="status">
      {action !== null && (
        <p>
          {action.text}{' '}
          <button type="button" onClick={() => settle('restore')}>
            Undo
          </button>
        </p>
      )}
    </div>
  )
}

/** What ran has ended while the person looked elsewhere. */
const hasNews = signal(false)

/** The tab says which chat it shows, that something runs, and that it has ended. */
function watchTitle(until: AbortSignal): void {
  let wasBusy = false
  const stop = effect(() => {
    const { title, id } = currentChat.value
    if (wasBusy && !isBusy.value && document.hidden) hasNews.value = true
    wasBusy = isBusy.value
    const mark = isBusy.value ? '… ' : hasNews.value ? '● ' : ''
    document.title = `${mark}${id === null ? '' : `${title} · `}Cellblock`
  })
  until.addEventListener('abort', stop)
  document.addEventListener('visibilitychange', () => document.hidden || (hasNews.value = false), { signal: until })
}

/** What the page hears while it is open: files dropped anywhere, keys, Back and Forward, and chats of other tabs. */
function watchPage(): () => void {
  const listening = new AbortController()
  const { signal: until } = listening
  watchDrops(until)
  watchTitle(until)
  watchKeys(until, { closeDrawer: close, openMenu, toggleMenu })
  addEventListener('popstate', () => void openAddress(), { signal: until })
  const refresh = (): void => void (document.visibilityState === 'visible' && refreshAll())
  addEventListener('focus', refresh, { signal: until })
  document.addEventListener('visibilitychange', refresh, { signal: until })
  const timer = setInterval(refresh, REFRESH_MS)
  return () => (listening.abort(), clearInterval(timer))
}

function watchDrops(until: AbortSignal): void {
  const options = { signal: until }
  const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') === true
  addEventListener('dragover', (event) => hasFiles(event) && (event.preventDefault(), (isDropping.value = true)), options)
  addEventListener('dragleave', (event) => event.relatedTarget === null && (isDropping.value = false), options)
  addEventListener(
    'drop',
    (event) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      isDropping.value = false
      void uploadAll([...(event.dataTransfer?.files ?? [])])
    },
    options,
  )
}
