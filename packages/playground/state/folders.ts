import { signal } from '@preact/signals'
import { call } from '../api/call.ts'
import type { ContainerFile } from '../api/types.ts'
import { currentChat } from './chats.ts'
import { container, files, nameOf, refreshFiles } from './workspace.ts'

export interface SandboxEntry {
  readonly path: string
  readonly name: string
  readonly type: 'file' | 'folder' | 'link' | 'other'
  readonly bytes: number
  readonly modified_at: string
}

/** A file of the panel. `id` is null for one that only the sandbox has: a terminal or running code made it. */
export interface PanelFile {
  readonly path: string
  readonly bytes: number
  readonly id: string | null
  readonly stored: ContainerFile | null
}

const MAX_DEPTH = 8
const MAX_ENTRIES = 500
/** Paths below this are the files of the person. */
const ROOT = '/mnt/data/'

/** What the sandbox has, while it is watched. */
const seen = signal<readonly SandboxEntry[]>([])
export const folders = signal<readonly string[]>([])

/** Reads the folder of the sandbox itself; only for a chat whose sandbox is awake, because reading wakes it. */
export async function refreshSandboxFiles(): Promise<void> {
  const { containerId } = currentChat.value
  if (containerId === null || container.value === 'gone') return
  const path = `/v1/containers/${containerId}/entries?path=.&depth=${MAX_DEPTH}&limit=${MAX_ENTRIES}`
  const { data } = await call<{ readonly data: readonly SandboxEntry[] }>(path).catch(() => ({ data: [] as readonly SandboxEntry[] }))
  if (currentChat.value.containerId !== containerId) return
  seen.value = data
  folders.value = data.filter(({ type }) => type === 'folder').map((entry) => nameOf(entry.path))
}

export function forgetSandboxFiles(): void {
  seen.value = []
  folders.value = []
}

/** Stored files and those that only the sandbox has, the newest first. */
export function panelFiles(): readonly PanelFile[] {
  const stored = files.value.map((file): PanelFile => ({ path: nameOf(file.path), bytes: file.bytes, id: file.id, stored: file }))
  const known = new Set(stored.map(({ path }) => path))
  const fresh = seen.value
    .filter(({ type, path }) => type === 'file' && path.startsWith(ROOT) && !known.has(nameOf(path)) && !/\/\./.test(path))
    .toSorted((a, b) => b.modified_at.localeCompare(a.modified_at))
    .map((entry): PanelFile => ({ path: nameOf(entry.path), bytes: entry.bytes, id: null, stored: null }))
  return [...fresh, ...stored]
}

const entriesPath = (): string => `/v1/containers/${currentChat.value.containerId}/entries`

async function refreshAll(): Promise<void> {
  await Promise.all([refreshFiles(), refreshSandboxFiles()])
}

/** Gives a file or folder another path; folders of the new path are made. */
export async function movePath(from: string, to: string): Promise<void> {
  await call(`${entriesPath()}/move`, { body: { from, to } })
  await refreshAll()
}

export async function makeFolder(path: string): Promise<void> {
  await call(entriesPath(), { body: { path } })
  await refreshAll()
}

export async function removePath(path: string): Promise<void> {
  await call(`${entriesPath()}?path=${encodeURIComponent(path)}`, { method: 'DELETE' })
  await refreshAll()
}
