import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { messageOf, call } from '../api/call.ts'
import { bytesText } from '../render/format.ts'
import { currentChat } from '../state/chats.ts'
import { isBusy } from '../state/conversation.ts'
import {
  folders,
  forgetSandboxFiles,
  makeFolder,
  movePath,
  panelFiles,
  refreshSandboxFiles,
  removePath,
  type PanelFile,
} from '../state/folders.ts'
import { isTerminalOpen } from '../state/terminal.ts'
import { doLater } from '../state/undo.ts'
import { container, deletePath, files, filesFailure, fileUrl, nameOf, refreshFiles } from '../state/workspace.ts'
import { addSample } from './examples.ts'
import { FileShape } from './file-shape.tsx'
import { focusOnce } from './focus-once.ts'
import { Icon } from '../render/icons.tsx'
import { Menu } from './menu.tsx'
import { lazily } from './lazily.tsx'
import { isNetworkOpen } from '../state/network.ts'
import { isVariablesOpen, VariablesView } from './variables-view.tsx'

const NetworkView = lazily(async () => (await import('./network-view.tsx')).NetworkView)
const Preview = lazily(async () => (await import('./preview.tsx')).Preview)
const previewed = signal<PanelFile | null>(null)
const zipState = signal('idle')
/** The path that is being changed, or `''` for a folder that is being made. */
const named = signal<string | null>(null)
const failure = signal<string | null>(null)
/** Paths whose deletion can still be undone. */
const leaving = signal<ReadonlySet<string>>(new Set())
/** While a terminal is open, the sandbox is read this often, milliseconds. */
const WATCH_MS = 2_500

/** Files that a call of the API made appear after this time, milliseconds. */
const STORED_MS = 4_000

const attempt = (act: Promise<void>): void => {
  failure.value = null
  act.catch((error: unknown) => (failure.value = messageOf(error)))
}

export function FilesPanel({ onClose }: { readonly onClose: () => void }) {
  const { containerId, key } = currentChat.value
  // Reading the sandbox stores what changed in it, so it would take the files of code that runs.
  const isWatched = isTerminalOpen.value && !isBusy.value
  useEffect(() => forgetSandboxFiles, [key])
  useEffect(() => {
    if (containerId === null) return
    const refresh = (): void => {
      if (document.visibilityState === 'visible') void (isWatched ? refreshSandboxFiles().then(refreshFiles) : refreshFiles())
    }
    const timer = setInterval(refresh, isWatched ? WATCH_MS : STORED_MS)
    return () => clearInterval(timer)
  }, [isWatched, containerId])
  const shown = panelFiles().filter(({ path }) => !leaving.value.has(path))
  return (
    <aside class="files" aria-label="Files">
      <header>
        <h2>Files</h2>
        <span class="path">/mnt/data</span>
        {containerId !== null && container.value !== 'gone' && (
          <button type="button" class="icon-button small" onClick={() => (named.value = '')} title="New folder">
            <Icon name="folder" />
            <span class="hidden">New folder</span>
          </button>
        )}
        <button type="button" class="icon-button narrow" onClick={onClose} title="Close">
          <Icon name="close" />
          <span class="hidden">Close the files</span>
        </button>
      </header>
      {(filesFailure.value ?? failure.value) !== null && <p class="failure">{filesFailure.value ?? failure.value}</p>}
      {named.value === '' && <PathInput label="Path of the new folder" initial="" onDone={(path) => attempt(makeFolder(path))} />}
      <FileTree files={shown} containerId={containerId} />
      <PanelFooter containerId={containerId} />
      {isVariablesOpen.value && <VariablesView />}
      {isNetworkOpen.value && <NetworkView key={key} />}
      {previewed.value !== null && containerId !== null && (
        <Preview file={previewed.value} containerId={containerId} onClose={() => (previewed.value = null)} />
      )}
    </aside>
  )
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** Files of the folder itself first, then each folder with its files. */
function FileTree({ files: list, containerId }: { readonly files: readonly PanelFile[]; readonly containerId: string | null }) {
  const places = new Set([...folders.value, ...list.map(({ path }) => folderOf(path))])
  places.delete('')
  const rows = (folder: string) =>
    list
      .filter(({ path }) => folderOf(path) === folder)
      .map((file) => <FileRow key={file.path} file={file} containerId={containerId ?? ''} />)
  return (
    <div class="file-list">
      {list.length === 0 && places.size === 0 && (
        <p class="empty">
          Drop files anywhere on the page, or choose them with +.
          <button type="button" class="plain" onClick={() => attempt(addSample())}>
            <Icon name="file" /> Add a sample table
          </button>
        </p>
      )}
      <ul>{rows('')}</ul>
      {[...places].toSorted().map((folder) => (
        <details key={folder} open>
          <summary>
            <Icon name="folder" /> {folder}
          </summary>
          <ul>{rows(folder)}</ul>
        </details>
      ))}
    </div>
  )
}

const IMAGE = /\.(?:png|jpe?g|gif|webp|svg)$/i
/** Larger pictures get no thumbnail. */
const MAX_THUMBNAIL_BYTES = 4 * 1024 * 1024

function FileRow({ file, containerId }: { readonly file: PanelFile; readonly containerId: string }) {
  const { path, bytes, id } = file
  const name = path.slice(path.lastIndexOf('/') + 1)
  const hasThumbnail = id !== null && IMAGE.test(path) && bytes <= MAX_THUMBNAIL_BYTES
  if (named.value === path)
    return (
      <li>
        <PathInput label={`New path of ${name}`} initial={path} onDone={(to) => to !== path && attempt(movePath(path, to))} />
      </li>
    )
  return (
    <li>
      {hasThumbnail ? <img class="thumbnail" src={fileUrl(containerId, id)} alt="" loading="lazy" /> : <Icon name="file" />}
      <div class="about">
        <button type="button" class="name" onClick={() => (previewed.value = file)} title={`Preview ${path}`}>
          {name}
        </button>
        <small>
          {bytesText(bytes)}
          {id === null ? ', in the sandbox' : <FileShape path={path} bytes={bytes} url={fileUrl(containerId, id)} />}
        </small>
      </div>
      {id !== null && (
        <a class="icon-button small" href={fileUrl(containerId, id)} download title="Download">
          <Icon name="download" />
          <span class="hidden">Download {path}</span>
        </a>
      )}
      <Menu
        label={`Actions for ${path}`}
        items={[
          { label: 'Rename or move', icon: 'edit', onSelect: () => (named.value = path) },
          { label: 'Delete', icon: 'trash', isDanger: true, onSelect: () => deleteFile(file) },
        ]}
      >
        <Icon name="more" />
      </Menu>
    </li>
  )
}

function deleteFile({ path, id }: PanelFile): void {
  const { containerId } = currentChat.value
  if (containerId === null) return
  leaving.value = new Set([...leaving.value, path])
  const restore = (): void => void (leaving.value = new Set([...leaving.value].filter((one) => one !== path)))
  const remove = async (): Promise<void> => {
    if (id === null) await removePath(path)
    else await call(deletePath(containerId, id), { method: 'DELETE', keepalive: true })
    await refreshFiles()
  }
  doLater({ text: `${path} is deleted.`, restore, commit: () => attempt(remove().finally(restore)) })
}

/** Enter and leaving the field take the path, Escape does not. */
function PathInput({
  label,
  initial,
  onDone,
}: {
  readonly label: string
  readonly initial: string
  readonly onDone: (path: string) => void
}) {
  const finish = (path: string): void => {
    named.value = null
    if (path.trim() !== '') onDone(path.trim())
  }
  return (
    <input
      class="title-input"
      aria-label={label}
      placeholder="folder/name"
      defaultValue={initial}
      maxLength={1_000}
      ref={focusOnce}
      onKeyDown={(event) => {
        if (event.key === 'Enter') finish(event.currentTarget.value)
        if (event.key !== 'Escape') return
        event.stopPropagation()
        named.value = null
      }}
      onBlur={(event) => named.value !== null && finish(event.currentTarget.value)}
    />
  )
}

function PanelFooter({ containerId }: { readonly containerId: string | null }) {
  if (containerId === null) return null
  return (
    <footer>
      {files.value.length > 0 && (
        <button type="button" class="plain" disabled={zipState.value === 'busy'} onClick={() => void downloadAll(containerId)}>
          <Icon name="download" /> {zipState.value === 'busy' ? 'Packing …' : 'Download all (zip)'}
        </button>
      )}
      <button
        type="button"
        class="plain"
        aria-pressed={isVariablesOpen.value}
        onClick={() => (isVariablesOpen.value = !isVariablesOpen.value)}
      >
        <Icon name="variables" /> Variables
      </button>
      <button type="button" class="plain" aria-pressed={isNetworkOpen.value} onClick={() => (isNetworkOpen.value = !isNetworkOpen.value)}>
        <Icon name="network" /> Network
      </button>
      {zipState.value !== 'idle' && zipState.value !== 'busy' && <p class="failure">{zipState.value}</p>}
    </footer>
  )
}

async function downloadAll(containerId: string): Promise<void> {
  zipState.value = 'busy'
  try {
    const { zipFiles } = await import('../render/zip-files.ts')
    await zipFiles(
      files.value.map((file) => ({ name: nameOf(file.path), url: fileUrl(containerId, file.id) })),
      `${currentChat.value.title.replaceAll(/[^\p{L}\p{N} ._-]/gu, '').trim() || 'files'}.zip`,
    )
    zipState.value = 'idle'
  } catch {
    zipState.value = 'A file could not be read. Try again.'
  }
}
