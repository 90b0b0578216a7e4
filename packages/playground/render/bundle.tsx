import { useState } from 'preact/hooks'
import type { ComponentChild } from 'preact'
import type { Bundle } from '../api/types.ts'
import { Ansi } from './ansi.tsx'
import { Frame } from './frame.tsx'
import { JsonTree } from './json-tree.tsx'
import { Latex } from './latex.tsx'
import { Markdown } from './markdown.tsx'
import { resourceTable } from './table-data.ts'
import { Table } from './table.tsx'

interface Form {
  readonly label: string
  /** `chooser` is for a view that has a line below its content; every other view gets it below itself. */
  readonly view: (chooser: ComponentChild) => ComponentChild
  readonly hasFoot?: true
}

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const
const VEGA = /^application\/vnd\.vega(?:lite)?\.v\d+(?:\.\d+)*\+json$/
const REF = 'cellblock/ref'

/** One displayed value in its best form; the others are a choice away. */
export function BundleView({ data }: { readonly data: Bundle }) {
  const forms = formsOf(data)
  const [chosen, setChosen] = useState(0)
  const form = forms[Math.min(chosen, forms.length - 1)]
  if (form === undefined) return null
  const chooser = forms.length > 1 && (
    <label class="forms">
      <span class="hidden">Show as</span>
      <select value={chosen} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
        {forms.map(({ label }, at) => (
          <option key={label} value={at}>
            {label}
          </option>
        ))}
      </select>
    </label>
  )
  return (
    <div class="bundle">
      {form.view(chooser)}
      {form.hasFoot !== true && chooser}
    </div>
  )
}

function formsOf(data: Bundle): Form[] {
  const forms: Form[] = []
  const add = (label: string, view: Form['view']): void => void forms.push({ label, view })
  const text = (mime: string): string | null => (Object.hasOwn(data, mime) ? textOf(data[mime]) : null)
  const table = resourceTable(data['application/vnd.dataresource+json'])
  if (table !== null) forms.push({ label: 'Table', view: (chooser) => <Table data={table} foot={chooser} />, hasFoot: true })
  const plotly = data['application/vnd.plotly.v1+json']
  if (plotly !== undefined) add('Plotly chart', () => <Frame kind="plotly" data={plotly} title="Interactive chart" />)
  const vega = Object.keys(data).find((mime) => VEGA.test(mime))
  if (vega !== undefined) add('Vega chart', () => <Frame kind="vega" data={data[vega]} title="Interactive chart" />)
  for (const mime of IMAGES) {
    const image = text(mime)
    if (image !== null) add('Picture', () => <Picture src={`data:${mime};base64,${image.replaceAll(/\s/g, '')}`} />)
  }
  const svg = text('image/svg+xml')
  // As a picture, SVG runs no script and loads nothing.
  if (svg !== null) add('SVG', () => <Picture src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg.toWellFormed())}`} />)
  const html = text('text/html')
  if (html !== null) add('HTML', () => <Frame kind="html" data={html} title="HTML output" />)
  const markdown = text('text/markdown')
  if (markdown !== null) add('Markdown', () => <Markdown text={markdown} />)
  const latex = text('text/latex')
  if (latex !== null) add('Formula', () => <Latex text={latex} />)
  if (data['application/json'] !== undefined) add('JSON', () => <JsonTree value={data['application/json']} />)
  for (const ref of refsOf(data)) add(`${ref.mime}, large`, () => <LargePart part={ref} />)
  const plain = text('text/plain')
  if (plain !== null) add('Text', () => <Ansi text={plain} label="Result" />)
  return forms
}

const Picture = ({ src }: { readonly src: string }) => (
  <a class="picture" href={src} download="picture" title="Download the picture">
    <img src={src} alt="Output of the code" />
  </a>
)

const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.join('') : typeof value === 'string' ? value : JSON.stringify(value)

interface LargePartData {
  readonly url: string
  readonly mime: string
  readonly bytes: number
}

function LargePart({ part: { url, mime, bytes } }: { readonly part: LargePartData }) {
  return (
    <p>
      <a href={url} target="_blank" rel="noopener noreferrer">
        Download {mime} ({Math.ceil(bytes / 1024)} KB)
      </a>
    </p>
  )
}

function refsOf(data: Bundle): readonly LargePartData[] {
  const found = data[REF]
  return (Array.isArray(found) ? found : [found]).filter(
    (ref): ref is LargePartData =>
      typeof ref === 'object' &&
      ref !== null &&
      typeof ref.url === 'string' &&
      /^https?:\/\//.test(ref.url) &&
      typeof ref.mime === 'string',
  )
}
