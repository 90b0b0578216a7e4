import { computed, effect, signal } from '@preact/signals'

/** A cell that a person ran in a chat, and after how many items of the conversation. */
export interface StoredCell {
  readonly executionId: string
  readonly code: string
  /** Absent: Python. */
  readonly language?: string
  readonly afterItems: number
}

/** What this browser remembers of a chat. Messages, outputs and files are on the server. */
export interface StoredChat {
  readonly id: string
  readonly title: string
  readonly conversationId: string | null
  readonly containerId: string | null
  readonly updatedAt: number
  /** A turn that had not ended when the page last saw it. */
  readonly turn: { readonly responseId: string; readonly input: string } | null
  readonly cells: readonly StoredCell[]
}

const KEY = 'cellblock.chats'
const MAX_CHATS = 200

const newChat = (): StoredChat => ({
  id: crypto.randomUUID(),
  title: 'New chat',
  conversationId: null,
  containerId: null,
  updatedAt: Date.now(),
  turn: null,
  cells: [],
})

function stored(): StoredChat[] {
  try {
    const chats = JSON.parse(localStorage.getItem(KEY) ?? '[]') as unknown
    return Array.isArray(chats) ? (chats as StoredChat[]) : []
  } catch {
    return []
  }
}

export const chats = signal<readonly StoredChat[]>(stored())
export const currentId = signal(localStorage.getItem('cellblock.chat') ?? '')
if (!chats.value.some(({ id }) => id === currentId.value)) openChat(chats.value[0] ?? newChat())

export const currentChat = computed<StoredChat>(() => chats.value.find(({ id }) => id === currentId.value) ?? newChat())

effect(() => localStorage.setItem(KEY, JSON.stringify(chats.value.slice(0, MAX_CHATS))))
effect(() => localStorage.setItem('cellblock.chat', currentId.value))

/** Makes a chat current, and adds one that is new. */
export function openChat(chat: StoredChat): void {
  if (!chats.value.some(({ id }) => id === chat.id)) chats.value = [chat, ...chats.value]
  currentId.value = chat.id
}

/** Opens an empty chat, optionally in a container that exists. An empty chat that is there already is used again. */
export function startChat(containerId: string | null = null): void {
  const empty = chats.value.find((chat) => chat.conversationId === null && chat.cells.length === 0 && chat.containerId === containerId)
  openChat(empty ?? { ...newChat(), containerId })
}

export function changeChat(id: string, change: Partial<Omit<StoredChat, 'id'>>): void {
  chats.value = chats.value
    .map((chat) => (chat.id === id ? { ...chat, ...change, updatedAt: Date.now() } : chat))
    .toSorted((a, b) => b.updatedAt - a.updatedAt)
}

/** Forgets a chat in this browser. */
export function forgetChat(id: string): void {
  const left = chats.value.filter((chat) => chat.id !== id)
  chats.value = left
  if (currentId.value === id) openChat(left[0] ?? newChat())
}
