import { useEffect } from 'preact/hooks'
import { messageOf } from '../api/call.ts'
import {
  chats,
  currentChat,
  hasMoreChats,
  listFailure,
  loadMoreChats,
  refreshChats,
  search,
  searchesMessages,
  showsArchived,
  startChat,
} from '../state/chats.ts'
import { requestFocus } from '../state/composer.ts'
import { scopes, showsAdmin } from '../session.ts'
import { byDay } from '../state/days.ts'
import { changeTheme, theme } from '../state/preferences.ts'
import { signOut } from '../state/sign-in.ts'
import { ChatRow } from './chat-row.tsx'
import { Icon, Logo } from '../render/icons.tsx'
import { Menu } from './menu.tsx'
import { openDialog } from './dialogs.tsx'
import { DocumentLinks } from './top-bar.tsx'

/** While a person types, the list follows after this pause, milliseconds. */
const SEARCH_PAUSE_MS = 200
let searching: ReturnType<typeof setTimeout> | undefined

const find = (text: string): void => {
  search.value = text
  clearTimeout(searching)
  searching = setTimeout(() => void refreshChats(), SEARCH_PAUSE_MS)
}

export function Sidebar({ onClose }: { readonly onClose: () => void }) {
  useEffect(() => void refreshChats(), [showsArchived.value])
  return (
    <nav class="sidebar" aria-label="Chats">
      <header class="brand">
        <Logo /> <span>Cellblock</span>
        <button type="button" class="icon-button narrow" onClick={onClose} title="Close">
          <Icon name="close" />
          <span class="hidden">Close the menu</span>
        </button>
      </header>
      <button type="button" class="new-chat" onClick={() => (startChat(), requestFocus(), onClose())}>
        <Icon name="plus" /> New chat
      </button>
      <label class="search">
        <Icon name="search" />
        <span class="hidden">Search chats</span>
        <input
          id="chat-search"
          type="search"
          placeholder="Search"
          maxLength={200}
          value={search.value}
          onInput={(event) => find(event.currentTarget.value)}
        />
      </label>
      <ChatList onOpen={onClose} />
      <footer>
        <button type="button" class="plain" aria-pressed={showsArchived.value} onClick={() => (showsArchived.value = !showsArchived.value)}>
          <Icon name="archive" /> {showsArchived.value ? 'Back to the chats' : 'Archived chats'}
        </button>
        <DocumentLinks />
        <Menu label="Settings" class="plain" items={settings()}>
          <Icon name="settings" />
          <span aria-hidden="true">Settings</span>
        </Menu>
      </footer>
    </nav>
  )
}

function settings() {
  return [
    ...(scopes.value.includes('admin')
      ? [{ label: 'Administration', icon: 'settings' as const, onSelect: () => void (showsAdmin.value = true) }]
      : []),
    { label: 'Your key and usage', icon: 'settings', onSelect: () => openDialog('account') },
    { label: 'Containers', icon: 'sandbox', onSelect: () => openDialog('containers') },
    { label: 'Runs', icon: 'play', onSelect: () => openDialog('runs') },
    { label: 'Keyboard shortcuts', icon: 'keyboard', onSelect: () => openDialog('shortcuts') },
    { label: `Theme: ${theme.value}`, icon: 'theme', onSelect: changeTheme },
    { label: 'Sign out', icon: 'leave', onSelect: () => void signOut().catch((error: unknown) => (listFailure.value = messageOf(error))) },
  ] as const
}

/** Says what was searched, and offers the other search. */
function SearchScope() {
  const isWide = searchesMessages.value
  const change = (): void => {
    searchesMessages.value = !isWide
    void refreshChats()
  }
  return (
    <p class="search-scope">
      <small>{isWide ? 'Searched: the latest 100 messages and cells of the latest 100 chats.' : 'Searched: titles.'}</small>
      <button type="button" class="plain" onClick={change}>
        {isWide ? 'Search in titles' : 'Search in messages'}
      </button>
    </p>
  )
}

function ChatList({ onOpen }: { readonly onOpen: () => void }) {
  const isSearching = search.value.trim() !== ''
  return (
    <div class="chat-list">
      {listFailure.value !== null && <p class="failure">{listFailure.value}</p>}
      {byDay(chats.value, new Date()).map((group) => (
        <section key={group.title} aria-label={group.title}>
          <h2>{group.title}</h2>
          <ul>
            {group.chats.map((chat) => (
              <ChatRow key={chat.id} chat={chat} isCurrent={chat.id === currentChat.value.id} onOpen={onOpen} />
            ))}
          </ul>
        </section>
      ))}
      {isSearching && <SearchScope />}
      {chats.value.length === 0 && listFailure.value === null && (
        <p class="empty">
          {isSearching
            ? searchesMessages.value
              ? 'No message has this text.'
              : 'No title has this text.'
            : showsArchived.value
              ? 'Nothing is archived.'
              : 'Your chats will be here.'}
        </p>
      )}
      {hasMoreChats.value && (
        <button type="button" class="plain" onClick={() => void loadMoreChats()}>
          Show older chats
        </button>
      )}
    </div>
  )
}
