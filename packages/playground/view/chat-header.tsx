import { runAll } from '../state/cells.ts'
import { currentChat } from '../state/chats.ts'
import { connection, entries, isBusy } from '../state/conversation.ts'
import { restartKernel } from '../state/kernel.ts'
import { isAppOpen } from '../state/ports.ts'
import { isTerminalOpen } from '../state/terminal.ts'
import { container } from '../state/workspace.ts'
import { chatActions, isRenaming, TitleInput } from './chat-row.tsx'
import { ContainerLine } from './container-line.tsx'
import { openDialog } from './dialogs.tsx'
import { exportActions } from './export-actions.ts'
import { Icon } from '../render/icons.tsx'
import { Menu } from './menu.tsx'
import { showNetwork } from '../state/network.ts'
import { isVariablesOpen } from './variables-view.tsx'

interface HeaderProps {
  readonly isMenuOpen: boolean
  readonly isPanelOpen: boolean
  readonly onMenu: () => void
  readonly onFiles: () => void
}

/** The title of the chat, its container in one line, and what can be done with both. */
export function ChatHeader({ isMenuOpen, isPanelOpen, onMenu, onFiles }: HeaderProps) {
  return (
    <header class="bar">
      <button type="button" class="icon-button" onClick={onMenu} aria-expanded={isMenuOpen} title="Chats (Ctrl+B)">
        <Icon name="menu" />
        <span class="hidden">Chats</span>
      </button>
      <Title />
      {connection.value === 'lost' && <span class="lost-connection">Connection lost. Reconnecting …</span>}
      <ChatMenu />
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
      <button type="button" class="icon-button" onClick={onFiles} aria-expanded={isPanelOpen} title="Files">
        <Icon name="files" />
        <span class="hidden">Files</span>
      </button>
    </header>
  )
}

function Title() {
  const chat = currentChat.value
  return (
    <div class="bar-title">
      {isRenaming(chat, 'header') ? <TitleInput chat={chat} /> : <h1>{chat.title}</h1>}
      <ContainerLine />
    </div>
  )
}

/** What can be done with the chat as a whole. */
function ChatMenu() {
  const chat = currentChat.value
  if (chat.id === null) return null
  const hasContainer = container.value !== null && container.value !== 'gone'
  const hasCells = entries.value.some(({ kind }) => kind === 'cell')
  return (
    <Menu
      label="Actions for this chat"
      class="icon-button"
      items={[
        { label: 'Share', icon: 'share', onSelect: () => openDialog('share') },
        ...exportActions(chat),
        ...(hasCells && !isBusy.value ? [{ label: 'Run all cells', icon: 'play' as const, onSelect: () => void runAll() }] : []),
        ...(hasContainer
          ? [
              { label: 'Preview an app', icon: 'eye' as const, onSelect: () => void (isAppOpen.value = true) },
              { label: 'Variables', icon: 'variables' as const, onSelect: () => void (isVariablesOpen.value = true) },
              { label: 'Network', icon: 'network' as const, onSelect: showNetwork },
              {
                label: 'Restart Python, keep the files',
                question: 'All variables will be gone. Restart?',
                icon: 'retry' as const,
                onSelect: () => void restartKernel(),
              },
            ]
          : []),
        ...chatActions(chat, 'header'),
      ]}
    >
      <Icon name="more" />
    </Menu>
  )
}
