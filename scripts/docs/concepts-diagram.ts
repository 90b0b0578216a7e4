// `node scripts/docs/concepts-diagram.ts` writes docs/img/concepts.svg, the diagram of docs/concepts.md.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { escapeHtml } from '../report/escape-html.ts'

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly title: string
  readonly lines?: readonly string[]
  readonly kind: 'owner' | 'part' | 'sandbox' | 'outside'
}

const BOXES: readonly Box[] = [
  { x: 10, y: 190, width: 120, height: 60, title: 'Client', lines: ['API key'], kind: 'outside' },
  { x: 10, y: 60, width: 120, height: 60, title: 'Model', lines: ['any endpoint'], kind: 'outside' },
  { x: 190, y: 20, width: 400, height: 370, title: 'Tenant', lines: ['keys, limits, usage'], kind: 'owner' },
  { x: 210, y: 80, width: 360, height: 70, title: 'Response', lines: ['one chat turn; may belong to a conversation'], kind: 'part' },
  { x: 210, y: 180, width: 360, height: 190, title: 'Container', lines: ['a notebook session'], kind: 'owner' },
  { x: 230, y: 240, width: 150, height: 50, title: 'Executions', lines: ['in order, each once'], kind: 'part' },
  { x: 400, y: 240, width: 150, height: 50, title: 'Files', lines: ['/mnt/data, versions'], kind: 'part' },
  { x: 230, y: 305, width: 320, height: 50, title: 'Variables', lines: ['saved while the container is idle'], kind: 'part' },
  {
    x: 650,
    y: 180,
    width: 240,
    height: 190,
    title: 'Sandbox',
    lines: ['no network, no secrets', 'for one container, once'],
    kind: 'sandbox',
  },
  { x: 670, y: 255, width: 200, height: 45, title: 'Supervisor', lines: ['limits, files, events'], kind: 'part' },
  { x: 670, y: 312, width: 200, height: 45, title: 'Kernel and programs', lines: ['an unprivileged user'], kind: 'part' },
]

interface Arrow {
  readonly from: readonly [number, number]
  readonly to: readonly [number, number]
  readonly label: string
  /** Left end of the label's base line. */
  readonly at: readonly [number, number]
}

const ARROWS: readonly Arrow[] = [
  { from: [208, 95], to: [132, 90], label: 'calls', at: [145, 84] },
  { from: [130, 205], to: [208, 140], label: 'asks', at: [134, 170] },
  { from: [130, 225], to: [208, 245], label: 'runs code', at: [134, 256] },
  { from: [390, 150], to: [390, 178], label: 'requests executions', at: [400, 170] },
  { from: [570, 290], to: [648, 290], label: 'runs in', at: [595, 283] },
]

const WIDTH = 900
const HEIGHT = 410
const STYLE = `text { font: 13px system-ui, sans-serif; fill: #1b1f27 } .title { font-weight: 600 } .line { fill: #5d6675; font-size: 12px }
rect { stroke-width: 1.5 } .owner { fill: #f4f6fb; stroke: #9aa6c3 } .part { fill: #fff; stroke: #4059d6 } .sandbox { fill: #fdf3ee; stroke: #c8642f }
.outside { fill: #fff; stroke: #9aa6c3; stroke-dasharray: 5 4 } path { stroke: #1b1f27; stroke-width: 1.5; fill: none } .back { fill: #fff; stroke: none } .head { fill: #1b1f27; stroke: none }
@media (prefers-color-scheme: dark) { text { fill: #e7eaf2 } .line { fill: #a9b2c3 } .owner { fill: #232834 } .part { fill: #1b1f27; stroke: #8a9bff } .sandbox { fill: #33251d }
.outside { fill: #1b1f27 } path { stroke: #e7eaf2 } .back { fill: #1b1f27 } .head { fill: #e7eaf2 } }`

function boxSvg({ x, y, width, height, title, lines = [], kind }: Box): string {
  const text = lines.map((line, at) => `<text class="line" x="${x + 12}" y="${y + 37 + at * 16}">${escapeHtml(line)}</text>`)
  return `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>
<text class="title" x="${x + 12}" y="${y + 20}">${escapeHtml(title)}</text>
${text.join('\n')}`
}

const arrowSvg = ({ from, to, label, at: [x, y] }: Arrow): string =>
  `<path d="M${from.join(' ')} L${to.join(' ')}" marker-end="url(#head)"/>
<text class="line" x="${x}" y="${y}">${escapeHtml(label)}</text>`

/** The diagram as SVG. */
export const conceptsDiagram = (): string => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}">
<title>The concepts of Cellblock</title>
<style>${STYLE}</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" class="head"/></marker></defs>
<rect width="${WIDTH}" height="${HEIGHT}" class="back"/>
${BOXES.map(boxSvg).join('\n')}
${ARROWS.map(arrowSvg).join('\n')}
</svg>
`

if (import.meta.main) await writeFile(join(import.meta.dirname, '../../docs/img/concepts.svg'), conceptsDiagram())
