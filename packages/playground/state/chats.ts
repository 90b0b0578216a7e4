import { signal } from '@preact/signals'
import { ApiError, call, messageOf } from '../api/call.ts'
import type { List, WireConversation } from '../api/types.ts'

/** A conversation as the page shows it. The server owns everything but `key`. */
export interface Chat {
  /** The same for as long as the page shows the chat, also when a new one gets its id. */
  readonly key: string
  /** Null until the server has the chat. */
  readonly id: string | null
  readonly title: string
  readonly containerId: string | null
  /** Epoch seconds. */
  readonly updatedAt: number
  readonly isArchived: boolean
  /** Responses that have not ended. */
  readonly running: readonly string[]
  /** Responses that failed or were stopped. */
  readonly unfinished: readonly string[]
}

export const NEW_TITLE = 'New chat'
const PAGE_SIZE = 60
const ADDRESS = /^\/chat\/([\w-]+)$/

const newChat = (containerId: string | null = null): Chat => ({
  key: crypto.randomUUID(),
  id: null,
  title: NEW_TITLE,
  containerId,
  updatedAt: Date.now() / 1000,
  isArchived: false,
  running: [],
  unfinished: [],
})

export const chatOf = ({ id, x_cellblock: fields }: WireConversation): Chat => ({
  key: id,
  id,
  title: fields.title ?? 'Untitled',
  containerId: fields.container_id,
  updatedAt: fields.updated_at,
  isArchived: fields.archived,
  running: fields.running,
  unfinished: fields.unfinished,
})

/** The chats of the list that is shown: the latest ones, or what a search found. */
export const chats = signal<readonly Chat[]>([])
export const hasMoreChats = signal(false)
export const listFailure = signal<string | null>(null)
export const search = signal('')
/** Search in messages and code instead of titles; it reads the latest chats only. */
export const searchesMessages = signal(false)
export const showsArchived = signal(false)
export const currentChat = signal<Chat>(newChat())
/** One line about a chat that could not be opened. */
export const chatNotice = signal<string | null>(null)

const addressOf = ({ id }: Pick<Chat, 'id'>): string => (id === null ? '/' : `/chat/${id}`)

function show(chat: Chat, isFromAddress = false): void {
  if (!isFromAddress && location.pathname !== addressOf(chat)) history.pushState(null, '', addressOf(chat))
  chatNotice.value = null
  currentChat.value = chat
}

export const openChat = (chat: Chat): void => show(chat)
export const startChat = (containerId: string | null = null): void => show(newChat(containerId))

/** Opens the chat that the address names. Called at the start and for the browser's Back and Forward. */
export async function openAddress(): Promise<void> {
  const id = ADDRESS.exec(location.pathname)?.[1]
  if (id === undefined) return show(newChat(), true)
  try {
    show(chatOf(await call<WireConversation>(`/v1/conversations/${id}`)), true)
  } catch (error) {
    const isMissing = error instanceof ApiError && error.status === 404
    if (isMissing) history.replaceState(null, '', '/')
    show(newChat(), true)
    chatNotice.value = isMissing ? 'This chat does not exist here: it was deleted, or belongs to another key.' : messageOf(error)
  }
}

/** Reads the list again, so that chats of other tabs and devices appear. */
export async function refreshChats(): Promise<void> {
  const query = listQuery()
  try {
    const { data, has_more: hasMore } = await call<List<WireConversation>>(`/v1/conversations?${query}`)
    // A later search has been typed meanwhile.
    if (query !== listQuery()) return
    const latest = data.map(chatOf)
    const older = query === shownQuery && hasMore ? olderThan(latest) : []
    chats.value = [...latest, ...older].filter(({ id }) => id !== null && !leaving.has(id))
    // Older chats came with the answer about what follows them.
    if (older.length === 0) hasMoreChats.value = hasMore
    shownQuery = query
    listFailure.value = null
  } catch (error) {
    listFailure.value = messageOf(error)
  }
}

/** The query of the list that is shown. */
let shownQuery = ''

/** Chats that were asked for with "Show older chats": they stay when the latest ones are read again. */
function olderThan(latest: readonly Chat[]): readonly Chat[] {
  const ids = new Set(latest.map(({ id }) => id))
  const end = latest.at(-1)?.updatedAt ?? 0
  return chats.value.filter(({ id, updatedAt }) => !ids.has(id) && updatedAt <= end)
}

const listQuery = (): string => {
  const query = new URLSearchParams({ titled: 'true', limit: String(PAGE_SIZE), archived: String(showsArchived.value) })
  if (search.value.trim() === '') return query.toString()
  query.set('q', search.value.trim())
  if (searchesMessages.value) query.set('search_in', 'messages')
  return query.toString()
}

export async function loadMoreChats(): Promise<void> {
  const last = chats.value.at(-1)?.id
  if (last === undefined) return
  try {
    const { data, has_more: hasMore } = await call<List<WireConversation>>(`/v1/conversations?${listQuery()}&after=${last}`)
    const known = new Set(chats.value.map(({ id }) => id))
    chats.value = [...chats.value, ...data.map(chatOf).filter(({ id }) => !known.has(id))]
    hasMoreChats.value = hasMore
  } catch (error) {
    listFailure.value = messageOf(error)
  }
}

const inCreation = new Map<string, Promise<string>>()

/** The id of the chat on the server, which makes it when it has none: an upload and a message at the same time share one. */
export function ensureChat(chat: Chat): Promise<string> {
  const known = currentChat.value.key === chat.key ? currentChat.value.id : chat.id
  if (known !== null) return Promise.resolve(known)
  const pending = inCreation.get(chat.key) ?? create(chat).finally(() => inCreation.delete(chat.key))
  inCreation.set(chat.key, pending)
  return pending
}

export const isChatMissing = (error: unknown): boolean => error instanceof ApiError && error.code === 'conversation_not_found'

/** Forgets the id of a chat that was deleted in another tab or device: the next message makes a new one of it. */
export function forgetId({ key }: Chat): void {
  if (currentChat.value.key !== key) return
  currentChat.value = { ...currentChat.value, id: null }
  history.replaceState(null, '', '/')
}

async function create({ key, containerId: known }: Chat): Promise<string> {
  const { title, containerId } = currentChat.value.key === key ? currentChat.value : { title: NEW_TITLE, containerId: known }
  const fields = { title, ...(containerId === null ? {} : { container_id: containerId }) }
  const made = chatOf(await call<WireConversation>('/v1/conversations', { body: { x_cellblock: fields } }))
  if (currentChat.value.key === key) {
    currentChat.value = { ...currentChat.value, id: made.id, updatedAt: made.updatedAt }
    history.replaceState(null, '', addressOf(made))
  }
  void refreshChats()
  return made.id ?? ''
}

type Change = Partial<Pick<Chat, 'title' | 'containerId' | 'isArchived'>>
const isSame = (one: Chat, other: Chat): boolean => one.key === other.key || (one.id !== null && one.id === other.id)

function changeHere(chat: Chat, change: Change): void {
  if (isSame(currentChat.value, chat)) currentChat.value = { ...currentChat.value, ...change }
  chats.value = chats.value.map((one) => (isSame(one, chat) ? { ...one, ...change } : one))
}

/** Changes a chat here at once, and on the server. */
export async function changeChat(chat: Chat, change: Change): Promise<void> {
  changeHere(chat, change)
  const id = isSame(currentChat.value, chat) ? currentChat.value.id : chat.id
  if (id === null) return
  const fields = {
    ...(change.title !== undefined && { title: change.title }),
    ...(change.containerId !== undefined && { container_id: change.containerId }),
    ...(change.isArchived !== undefined && { archived: change.isArchived }),
  }
  const changed = chatOf(await call<WireConversation>(`/v1/conversations/${id}`, { body: { x_cellblock: fields } }))
  noteOwnChange(changed)
  void refreshChats()
}

/** As `changeChat`; a refusal takes the change back and becomes the sentence above the list. */
export async function tryChange(chat: Chat, change: Change): Promise<void> {
  try {
    await changeChat(chat, change)
  } catch (error) {
    const { title, isArchived } = chat
    changeHere(chat, { title, isArchived })
    listFailure.value = messageOf(error)
  }
}

/** What this page changed itself is shown already. */
function noteOwnChange({ id, updatedAt }: Pick<Chat, 'id' | 'updatedAt'>): void {
  if (id !== null && currentChat.value.id === id) currentChat.value = { ...currentChat.value, updatedAt }
}

/** Reads the list after this page has changed its chat. */
export async function refreshAfterChange(): Promise<void> {
  await refreshChats()
  const latest = chats.value.find(({ id }) => id === currentChat.value.id)
  if (latest !== undefined) noteOwnChange(latest)
}

/** Chats that disappear from the list while their deletion can still be undone. */
const leaving = new Set<string>()

/** Takes a chat out of the list. `commit` deletes it, `restore` brings it back. */
export function removeChat(chat: Chat): { commit(): void; restore(): void } {
  const { id } = chat
  if (id !== null) leaving.add(id)
  chats.value = chats.value.filter((one) => one.id !== id)
  if (currentChat.value.id === id) startChat()
  return {
    // Also sent while the page closes.
    commit: () => void call(`/v1/conversations/${id}`, { method: 'DELETE', keepalive: true }).catch(() => undefined),
    restore: () => {
      leaving.delete(id ?? '')
      void refreshChats()
      openChat(chat)
    },
  }
}
