import { signal } from '@preact/signals'
import { call, messageOf } from '../api/call.ts'
import type { Container, ContainerFile, List } from '../api/types.ts'
import { uploadFile } from '../api/upload.ts'
import { changeChat, currentChat, type StoredChat } from './chat-store.ts'
import { image, memory } from './preferences.ts'

export interface Upload {
  readonly name: string
  /** 0 to 1. */
  readonly share: number
  readonly failure: string | null
}

export const files = signal<readonly ContainerFile[]>([])
export const uploads = signal<readonly Upload[]>([])
export const containers = signal<readonly Container[]>([])
export const filesFailure = signal<string | null>(null)

/** Containers that are being made, by chat: an upload and a message at the same time share one. */
const inCreation = new Map<string, Promise<string>>()

/** The container of the current chat; makes one when it has none. */
export function ensureContainer(): Promise<string> {
  const chat = currentChat.value
  if (chat.containerId !== null) return Promise.resolve(chat.containerId)
  const pending = inCreation.get(chat.id) ?? createContainer(chat).finally(() => inCreation.delete(chat.id))
  inCreation.set(chat.id, pending)
  return pending
}

async function createContainer(chat: StoredChat): Promise<string> {
  const name = chat.title === 'New chat' ? 'Playground' : chat.title
  const container = await call<Container>('/v1/containers', {
    body: { name, memory_limit: memory.value, ...(image.value !== '' && { image: image.value }) },
  })
  changeChat(chat.id, { containerId: container.id })
  void refreshContainers()
  return container.id
}

const MAX_FILE_PAGES = 20

/** Reads the files of the current chat's container. */
export async function refreshFiles(): Promise<void> {
  const { containerId } = currentChat.value
  if (containerId === null) {
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
    files.value = found
    filesFailure.value = null
  } catch (error) {
    filesFailure.value = messageOf(error)
  }
}

export async function refreshContainers(): Promise<void> {
  try {
    containers.value = (await call<List<Container>>('/v1/containers?limit=50&order=desc')).data
  } catch {
    // The list is refreshed again soon; an unreachable server shows elsewhere.
  }
}

export async function deleteContainer(id: string): Promise<void> {
  await call(`/v1/containers/${id}`, { method: 'DELETE' })
  await refreshContainers()
}

export async function deleteFile(id: string): Promise<void> {
  await call(`/v1/containers/${currentChat.value.containerId}/files/${id}`, { method: 'DELETE' })
  await refreshFiles()
}

let lastUpload = Promise.resolve()

/** Resolves when no upload is under way, so that code finds the files that were dropped before it. */
export const uploadsEnd = (): Promise<void> => lastUpload

/** Uploads files one after another; each shows its progress, and its failure until the next upload. */
export function uploadAll(given: readonly File[]): Promise<void> {
  lastUpload = lastUpload.then(() => uploadInOrder(given))
  return lastUpload
}

async function uploadInOrder(given: readonly File[]): Promise<void> {
  uploads.value = given.map(({ name }) => ({ name, share: 0, failure: null }))
  const change = (at: number, part: Partial<Upload>): void => {
    uploads.value = uploads.value.map((upload, i) => (i === at ? { ...upload, ...part } : upload))
  }
  for (const [at, file] of given.entries()) {
    try {
      await uploadFile(await ensureContainer(), file, (share) => change(at, { share }))
      change(at, { share: 1 })
    } catch (error) {
      change(at, { failure: messageOf(error) })
    }
    await refreshFiles()
  }
  uploads.value = uploads.value.filter(({ failure }) => failure !== null)
}

export const fileUrl = (containerId: string, fileId: string): string => `/v1/containers/${containerId}/files/${fileId}/content`
export const nameOf = (path: string): string => path.replace(/^\/mnt\/data\//, '')
