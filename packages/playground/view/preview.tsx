import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../api/call.ts'
import { Code } from '../render/code.tsx'
import { bytesText } from '../render/format.ts'
import { Frame } from '../render/frame.tsx'
import { JsonTree } from '../render/json-tree.tsx'
import { Markdown } from '../render/markdown.tsx'
import { csvTable, type TableData } from '../render/table-data.ts'
import { Table } from '../render/table.tsx'
import type { PanelFile } from '../state/folders.ts'
import { fileUrl } from '../state/workspace.ts'
import { Icon } from '../render/icons.tsx'

/** Read for a preview, bytes; a picture is read whole up to the larger limit. */
const TEXT_BYTES = 256 * 1024
const IMAGE_BYTES = 20 * 1024 * 1024
/** Files that the page itself cannot read. */
const SHEETS = ['xlsx', 'xls', 'parquet', 'feather', 'ods']
const IMAGES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
}

type Content =
  | { readonly kind: 'loading' }
  | { readonly kind: 'image'; readonly url: string }
  | { readonly kind: 'pdf'; readonly url: string }
  | { readonly kind: 'rows'; readonly table: TableData }
  | { readonly kind: 'text'; readonly text: string; readonly isCut: boolean }
  | { readonly kind: 'none'; readonly why: string }

/** A file in a dialog: tables, pictures, documents and text. */
export function Preview({
  file,
  containerId,
  onClose,
}: {
  readonly file: PanelFile
  readonly containerId: string
  readonly onClose: () => void
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [content, setContent] = useState<Content>({ kind: 'loading' })
  const name = file.path
  useEffect(() => {
    dialog.current?.showModal()
    const reading = new AbortController()
    let made: string | null = null
    readContent(file, containerId, reading.signal).then(
      (found) => {
        made = 'url' in found ? found.url : null
        setContent(found)
      },
      () => reading.signal.aborted || setContent({ kind: 'none', why: 'The file could not be read. Try again.' }),
    )
    return () => {
      reading.abort()
      if (made !== null) URL.revokeObjectURL(made)
    }
  }, [file.path])
  return (
    <dialog ref={dialog} class="preview" aria-label={`Preview of ${name}`} onClose={onClose}>
      <header>
        <h2>{name}</h2>
        <small>{bytesText(file.bytes)}</small>
        {file.id !== null && (
          <a class="icon-button" href={fileUrl(containerId, file.id)} download title="Download">
            <Icon name="download" />
            <span class="hidden">Download {name}</span>
          </a>
        )}
        <button type="button" class="icon-button" autofocus onClick={() => dialog.current?.close()} title="Close">
          <Icon name="close" />
          <span class="hidden">Close the preview</span>
        </button>
      </header>
      <div class="preview-body">
        <ContentView content={content} name={name} />
      </div>
    </dialog>
  )
}

const endingOf = (name: string): string => /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? ''

function ContentView({ content, name }: { readonly content: Content; readonly name: string }) {
  if (content.kind === 'loading') return <p>Loading …</p>
  if (content.kind === 'none') return <p>{content.why}</p>
  if (content.kind === 'pdf') return <iframe class="pdf" src={content.url} title={`The document ${name}`} />
  if (content.kind === 'rows')
    return (
      <>
        <p>The first rows of the file.</p>
        <Table data={content.table} />
      </>
    )
  if (content.kind === 'image') return <img src={content.url} alt={`The picture ${name}`} />
  return (
    <>
      {content.isCut && <p class="notice">Only the start of the file is shown.</p>}
      <TextView text={content.text} ending={endingOf(name)} isCut={content.isCut} />
    </>
  )
}

function TextView({ text, ending, isCut }: { readonly text: string; readonly ending: string; readonly isCut: boolean }) {
  if (ending === 'csv' || ending === 'tsv')
    return <Table data={csvTable(isCut ? text.slice(0, text.lastIndexOf('\n')) : text, ending === 'tsv' ? '\t' : ',')} />
  if (ending === 'md') return <Markdown text={text} />
  if (ending === 'html' || ending === 'htm') return <Frame kind="html" data={text} title="HTML file" />
  if ((ending === 'json' || ending === 'ipynb') && !isCut) {
    try {
      return <JsonTree value={JSON.parse(text)} />
    } catch {
      // Shown as text.
    }
  }
  return <Code text={text} language={ending === 'py' ? 'python' : ending === '' ? 'text' : ending} />
}

async function readContent(file: PanelFile, containerId: string, signal: AbortSignal): Promise<Content> {
  const ending = endingOf(file.path)
  if (file.id === null || SHEETS.includes(ending)) return previewInSandbox(file, containerId, signal)
  const url = fileUrl(containerId, file.id)
  const type = ending === 'pdf' ? 'application/pdf' : IMAGES[ending]
  if (type !== undefined) {
    if (file.bytes > IMAGE_BYTES) return { kind: 'none', why: 'The file is too large for a preview. Download it.' }
    const bytes = await (await readOk(url, {}, signal)).arrayBuffer()
    return { kind: ending === 'pdf' ? 'pdf' : 'image', url: URL.createObjectURL(new Blob([bytes], { type })) }
  }
  const isCut = file.bytes > TEXT_BYTES
  const response = await readOk(url, isCut ? { range: `bytes=0-${TEXT_BYTES - 1}` } : {}, signal)
  const text = new TextDecoder().decode(await response.arrayBuffer())
  if (text === '') return { kind: 'none', why: 'The file is empty.' }
  return text.includes('\0') ? { kind: 'none', why: 'This is not a text file. Download it to open it.' } : { kind: 'text', text, isCut }
}

interface SandboxPreview {
  readonly kind: 'table' | 'image' | 'text' | 'binary'
  readonly preview: {
    readonly columns?: readonly unknown[]
    readonly rows?: readonly (readonly unknown[])[]
    readonly thumbnail?: string
    readonly lines?: readonly string[]
    /** Why the sandbox could not read the file as its ending says. */
    readonly problem?: string
  }
}

/** The sandbox reads the file: spreadsheets and Parquet need its libraries, and some files only it has. */
async function previewInSandbox({ path, bytes }: PanelFile, containerId: string, signal: AbortSignal): Promise<Content> {
  const query = new URLSearchParams({ path, rows: '100', pixels: '1024' })
  const { kind, preview } = await call<SandboxPreview>(`/v1/containers/${containerId}/entries/preview?${query}`, { signal })
  if (preview.problem !== undefined) return { kind: 'none', why: preview.problem }
  if (kind === 'table') {
    const columns = (preview.columns ?? []).map(String)
    return {
      kind: 'rows',
      table: { columns, rows: preview.rows ?? [], total: preview.rows?.length ?? 0 },
    }
  }
  if (kind === 'image' && preview.thumbnail !== undefined) return { kind: 'image', url: `data:image/png;base64,${preview.thumbnail}` }
  if (kind === 'text') return { kind: 'text', text: (preview.lines ?? []).join('\n'), isCut: bytes > TEXT_BYTES }
  return { kind: 'none', why: 'This is not a text file. Download it to open it.' }
}

async function readOk(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response> {
  const response = await fetch(url, { headers, signal })
  if (!response.ok) throw new Error(`HTTP ${response.status}`)
  return response
}
