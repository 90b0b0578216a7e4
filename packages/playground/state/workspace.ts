import { signal } from '@preact/signals'
import { ApiError, call, messageOf } from '../api/call.ts'
import type { Container, ContainerFile, List } from '../api/types.ts'
import { changeChat, currentChat, ensureChat, forgetId, isChatMissing, NEW_TITLE, type Chat } from './chats.ts'
import { addEntries } from './conversation.ts'
import { image, memory } from './preferences.ts'

export const files = signal<readonly ContainerFile[]>([])
export const filesFailure = signal<string | null>(null)
/** The container of the current chat; null: none yet; `gone`: it was deleted. */
export const container = signal<Container | 'gone' | null>(null)

const GONE =
  'The container of this chat was deleted: its files, its variables and the outputs of its code are gone. A new container is used from here on.'

const DELETED =
  'This chat was deleted in another tab or device. It continues as a new chat with the same files; a model does not have the messages before.'

const isContainerMissing = (error: unknown): boolean => error instanceof ApiError && error.code === 'container_not_found'

/** Reads the container and the files of a chat that was opened. */
export async function openContainer({ containerId }: Chat): Promise<void> {
  container.value = null
  files.value = []
  filesFailure.value = null
  if (containerId !== null) await Promise.all([refreshContainer(), refreshFiles()])
}

export async function refreshContainer(): Promise<void> {
  const { containerId } = currentChat.value
  if (containerId === null) return
  const found = await call<Container>(`/v1/containers/${containerId}`).catch((error: unknown) =>
    isContainerMissing(error) ? 'gone' : null,
  )
  if (currentChat.value.containerId === containerId && found !== null) container.value = found
}

/** Containers that are being made, by chat: an upload and a message at the same time share one. */
const inCreation = new Map<string, Promise<string>>()

/** The container of the chat; makes one when it has none, and replaces one that was deleted. */
export function ensureContainer(chat: Chat): Promise<string> {
  const { containerId } = currentChat.value.key === chat.key ? currentChat.value : chat
  if (container.value === 'gone' && currentChat.value.key === chat.key) return replaceContainer(chat)
  if (containerId !== null) return Promise.resolve(containerId)
  return once(chat, () => create(chat))
}

/** Replaces a container that was deleted, with one line that says so to the person and to the model. */
function replaceContainer(chat: Chat): Promise<string> {
  return once(chat, async () => {
    const made = await create(chat)
    await tell(chat, GONE)
    return made
  })
}

/** A container and a chat can both have been deleted. */
const MAX_REPLACEMENTS = 2

/** Does `act`. If the container or the chat was deleted meanwhile, replaces it and does it again. */
export async function withReplacements<T>(chat: Chat, act: () => Promise<T>): Promise<T> {
  let replace: (chat: Chat) => Promise<unknown> = () => Promise.resolve()
  for (let replaced = 0; ; replaced++) {
    try {
      await replace(chat)
      return await act()
    } catch (error) {
      const isChat = isChatMissing(error)
      if (replaced === MAX_REPLACEMENTS || !(isChat || isContainerMissing(error))) throw error
      replace = isChat ? replaceChat : replaceContainer
    }
  }
}

/** Continues a chat that was deleted elsewhere as a new one, with one line that says so. */
async function replaceChat(chat: Chat): Promise<void> {
  forgetId(chat)
  await tell(chat, DELETED)
}

/** Adds one line for the person and for the model. */
async function tell(chat: Chat, text: string): Promise<void> {
  const conversation = await ensureChat(chat)
  const item = { type: 'message', role: 'developer', content: [{ type: 'input_text', text }] }
  const { data } = await call<{ readonly data: readonly { readonly id: string }[] }>(`/v1/conversations/${conversation}/items`, {
    body: { items: [item] },
  })
  if (currentChat.value.key === chat.key) addEntries({ kind: 'notice', key: crypto.randomUUID(), id: data[0]?.id ?? null, text })
}

function once(chat: Chat, make: () => Promise<string>): Promise<string> {
  const pending = inCreation.get(chat.key) ?? make().finally(() => inCreation.delete(chat.key))
  inCreation.set(chat.key, pending)
  return pending
}

async function create(chat: Chat): Promise<string> {
  const { title } = currentChat.value.key === chat.key ? currentChat.value : chat
  const made = await call<Container>('/v1/containers', {
    body: {
      name: title === NEW_TITLE ? 'Chat' : title,
      memory_limit: memory.value,
      ...(image.value !== '' && { image: image.value }),
    },
  })
  if (currentChat.value.key === chat.key) {
    container.value = made
    files.value = []
  }
  await changeChat(chat, { containerId: made.id })
  return made.id
}

const MAX_FILE_PAGES = 20

/** Reads the files of the current chat's container. */
export async function refreshFiles(): Promise<void> {
  const { containerId } = currentChat.value
  if (containerId === null || container.value === 'gone') {
    files.value = []
    return
  }
  try {
    const found: ContainerFile[] = []
    let after = ''
    for (let page = 0; page < MAX_FILE_PAGES; page++) {
      const list = await call<List<ContainerFile>>(`/v1/containers/${containerId}/files?limit=100&order=desc${after}`)
      found.push(...list.data)
      if (!list.has_more || list.last_id === null) break
      after = `&after=${list.last_id}`
    }
    if (currentChat.value.containerId !== containerId) return
    // The same list draws nothing again.
    if (JSON.stringify(found) !== JSON.stringify(files.value)) files.value = found
    filesFailure.value = null
  } catch (error) {
    if (currentChat.value.containerId !== containerId) return
    if (isContainerMissing(error)) container.value = 'gone'
    else filesFailure.value = messageOf(error)
  }
}

export const deletePath = (containerId: string, fileId: string): string => `/v1/containers/${containerId}/files/${fileId}`
export const fileUrl = (containerId: string, fileId: string): string => `${deletePath(containerId, fileId)}/content`
export const nameOf = (path: string): string => path.replace(/^\/mnt\/data\//, '')
