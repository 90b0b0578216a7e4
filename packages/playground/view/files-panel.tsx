import { signal } from '@preact/signals'
import type { ContainerFile } from '../api/types.ts'
import { bytesText } from '../render/format.ts'
import { currentChat } from '../state/chat-store.ts'
import { deleteFile, files, filesFailure, fileUrl, nameOf, uploads } from '../state/workspace.ts'
import { Icon } from './icons.tsx'
import { Preview } from './preview.tsx'

const previewed = signal<ContainerFile | null>(null)
const zipState = signal('idle')

export function FilesPanel({ onClose }: { readonly onClose: () => void }) {
  const { containerId } = currentChat.value
  return (
    <aside class="files" aria-label="Files">
      <header>
        <h2>Files</h2>
        <span class="path">/mnt/data</span>
        <button type="button" class="icon-button narrow" onClick={onClose} title="Close">
          <Icon name="close" />
          <span class="hidden">Close the files</span>
        </button>
      </header>
      {filesFailure.value !== null && <p class="failure">{filesFailure.value}</p>}
      <ul class="uploads" aria-live="polite">
        {uploads.value.map(({ name, share, failure }, at) => (
          <li key={at} class={failure === null ? '' : 'failed'}>
            <span>{name}</span>
            {failure === null ? <progress value={share} max={1} aria-label={`Upload of ${name}`} /> : <small>{failure}</small>}
          </li>
        ))}
      </ul>
      <ul class="file-list">
        {containerId !== null && files.value.map((file) => <FileRow key={file.id} file={file} containerId={containerId} />)}
        {files.value.length === 0 && <li class="empty">Drop files here, or anywhere on the page.</li>}
      </ul>
      <footer>
        {files.value.length > 0 && containerId !== null && (
          <button type="button" class="plain" disabled={zipState.value === 'busy'} onClick={() => void downloadAll(containerId)}>
            <Icon name="download" /> {zipState.value === 'busy' ? 'Packing …' : 'Download all (zip)'}
          </button>
        )}
        {containerId !== null && (
          <a class="plain" href={`/v1/containers/${containerId}/notebook.ipynb`} download>
            <Icon name="notebook" /> Download notebook
          </a>
        )}
        {zipState.value !== 'idle' && zipState.value !== 'busy' && <p class="failure">{zipState.value}</p>}
      </footer>
      {previewed.value !== null && containerId !== null && (
        <Preview file={previewed.value} containerId={containerId} onClose={() => (previewed.value = null)} />
      )}
    </aside>
  )
}

function FileRow({ file, containerId }: { readonly file: ContainerFile; readonly containerId: string }) {
  const name = nameOf(file.path)
  return (
    <li>
      <button type="button" class="name" onClick={() => (previewed.value = file)} title={`Preview ${name}`}>
        {name}
      </button>
      <small>{bytesText(file.bytes)}</small>
      <a class="icon-button" href={fileUrl(containerId, file.id)} download title="Download">
        <Icon name="download" />
        <span class="hidden">Download {name}</span>
      </a>
      <button type="button" class="icon-button" onClick={() => void deleteFile(file.id)} title="Delete">
        <Icon name="trash" />
        <span class="hidden">Delete {name}</span>
      </button>
    </li>
  )
}

async function downloadAll(containerId: string): Promise<void> {
  zipState.value = 'busy'
  try {
    const { zipFiles } = await import('../render/zip-files.ts')
    await zipFiles(
      files.value.map((file) => ({ name: nameOf(file.path), url: fileUrl(containerId, file.id) })),
      'files.zip',
    )
    zipState.value = 'idle'
  } catch {
    zipState.value = 'A file could not be read. Try again.'
  }
}
