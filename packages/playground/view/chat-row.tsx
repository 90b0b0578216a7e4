import { signal } from '@preact/signals'
import { openChat, removeChat, tryChange, type Chat } from '../state/chats.ts'
import { doLater } from '../state/undo.ts'
import { focusOnce } from './focus-once.ts'
import { Icon } from '../render/icons.tsx'
import { Menu } from './menu.tsx'

type Place = 'list' | 'header'
/** The chat whose title is being changed, and where. */
const renaming = signal<{ readonly id: string | null; readonly place: Place } | null>(null)
export const isRenaming = ({ id }: Chat, place: Place): boolean =>
  id !== null && renaming.value?.id === id && renaming.value.place === place

export function ChatRow({ chat, isCurrent, onOpen }: { readonly chat: Chat; readonly isCurrent: boolean; readonly onOpen: () => void }) {
  const open = (event: MouseEvent): void => {
    // Another tab or window is the browser's to open.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    openChat(chat)
    onOpen()
  }
  if (isRenaming(chat, 'list'))
    return (
      <li>
        <TitleInput chat={chat} />
      </li>
    )
  return (
    <li class={isCurrent ? 'current' : ''}>
      <a href={`/chat/${chat.id}`} aria-current={isCurrent ? 'page' : undefined} onClick={open} title={chat.title}>
        {chat.title}
      </a>
      <Menu label={`Actions for ${chat.title}`} items={chatActions(chat, 'list')}>
        <Icon name="more" />
      </Menu>
    </li>
  )
}

export function chatActions(chat: Chat, place: Place) {
  return [
    { label: 'Rename', icon: 'edit', onSelect: () => void (renaming.value = { id: chat.id, place }) },
    {
      label: chat.isArchived ? 'Move back to the chats' : 'Archive',
      icon: 'archive',
      onSelect: () => void setArchived(chat, !chat.isArchived),
    },
    { label: 'Delete', icon: 'trash', isDanger: true, onSelect: () => deleteChat(chat) },
  ] as const
}

function deleteChat(chat: Chat): void {
  doLater({ text: `“${chat.title}” is deleted.`, ...removeChat(chat) })
}

async function setArchived(chat: Chat, isArchived: boolean): Promise<void> {
  await tryChange(chat, { isArchived })
  doLater({
    text: isArchived ? `“${chat.title}” is archived.` : `“${chat.title}” is among the chats again.`,
    commit: () => undefined,
    restore: () => void tryChange(chat, { isArchived: !isArchived }),
  })
}

/** Enter and leaving the field keep the title, Escape does not. */
export function TitleInput({ chat }: { readonly chat: Chat }) {
  const finish = (title: string): void => {
    renaming.value = null
    if (title.trim() !== '' && title.trim() !== chat.title) void tryChange(chat, { title: title.trim() })
  }
  return (
    <input
      class="title-input"
      aria-label="Title of the chat"
      maxLength={200}
      defaultValue={chat.title}
      ref={focusOnce}
      onKeyDown={(event) => {
        if (event.key === 'Enter') finish(event.currentTarget.value)
        if (event.key !== 'Escape') return
        event.stopPropagation()
        renaming.value = null
      }}
      onBlur={(event) => renaming.value !== null && finish(event.currentTarget.value)}
    />
  )
}
