import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { chats, currentId, forgetChat, openChat, startChat } from '../state/chat-store.ts'
import { theme } from '../state/preferences.ts'
import { signOut } from '../state/sign-in.ts'
import { containers, deleteContainer, refreshContainers } from '../state/workspace.ts'
import type { Container } from '../api/types.ts'
import { timeLeftText } from '../render/format.ts'
import { Icon, Logo } from './icons.tsx'

const REFRESH_MS = 15_000
const now = signal(Date.now())
const THEMES = ['system', 'light', 'dark'] as const

export function Sidebar({ onClose }: { readonly onClose: () => void }) {
  useEffect(() => {
    void refreshContainers()
    const clock = setInterval(() => (now.value = Date.now()), 1_000)
    const list = setInterval(() => void refreshContainers(), REFRESH_MS)
    return () => (clearInterval(clock), clearInterval(list))
  }, [])
  const nextTheme = THEMES[(THEMES.indexOf(theme.value as 'system') + 1) % THEMES.length] ?? 'system'
  return (
    <nav class="sidebar" aria-label="Chats and containers">
      <header class="brand">
        <Logo /> <span>Cellblock</span>
        <button type="button" class="icon-button narrow" onClick={onClose} title="Close">
          <Icon name="close" />
          <span class="hidden">Close the menu</span>
        </button>
      </header>
      <button type="button" class="new-chat" onClick={() => (startChat(), onClose())}>
        <Icon name="plus" /> New chat
      </button>
      <h2>Chats</h2>
      <ul class="chat-list">
        {chats.value.map((chat) => (
          <li key={chat.id} class={chat.id === currentId.value ? 'current' : ''}>
            <button
              type="button"
              aria-current={chat.id === currentId.value ? 'page' : undefined}
              onClick={() => (openChat(chat), onClose())}
            >
              {chat.title}
            </button>
            <button type="button" class="icon-button" onClick={() => forgetChat(chat.id)} title="Remove from this list">
              <Icon name="close" />
              <span class="hidden">Remove {chat.title} from this list</span>
            </button>
          </li>
        ))}
      </ul>
      <h2>Containers</h2>
      <ul class="container-list">
        {containers.value.map((container) => (
          <ContainerRow key={container.id} container={container} onOpen={onClose} />
        ))}
        {containers.value.length === 0 && <li class="empty">None yet. The first message or file makes one.</li>}
      </ul>
      <footer>
        <button type="button" class="plain" onClick={() => (theme.value = nextTheme)}>
          <Icon name="theme" /> Theme: {theme.value}
        </button>
        <a class="plain" href="/docs" target="_blank" rel="noopener">
          <Icon name="book" /> API reference
        </a>
        <button type="button" class="plain" onClick={() => void signOut()}>
          <Icon name="leave" /> Sign out
        </button>
      </footer>
    </nav>
  )
}

function ContainerRow({ container, onOpen }: { readonly container: Container; readonly onOpen: () => void }) {
  const left = container.last_active_at + container.expires_after.minutes * 60 - now.value / 1000
  const isAwake = container.status === 'running' && left > 0
  return (
    <li>
      <button type="button" onClick={() => (startChat(container.id), onOpen())} title="New chat in this container">
        <span class={`dot ${isAwake ? 'awake' : 'hibernated'}`} aria-hidden="true" />
        <span class="name">{container.name}</span>
        <small>
          {isAwake ? `active, ${timeLeftText(left)} left` : 'hibernated'} · {container.memory_limit.replace('g', ' GB')}
        </small>
      </button>
      <button type="button" class="icon-button" onClick={() => void deleteContainer(container.id)} title="Delete with its files">
        <Icon name="trash" />
        <span class="hidden">Delete the container {container.name} with its files</span>
      </button>
    </li>
  )
}
