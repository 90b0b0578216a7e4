import { escapeHtml } from './escape-html.ts'

export interface Bar {
  readonly label: string
  readonly value: number
  /** The text behind the bar; without it, the value. */
  readonly note?: string
  /** Drawn as a line across the bar, for example a threshold. */
  readonly limit?: number
  readonly verdict?: 'good' | 'bad'
}

export interface BarChart {
  readonly title: string
  readonly unit: string
  readonly bars: readonly Bar[]
  readonly scale?: 'linear' | 'log'
}

const WIDTH = 900
const LABEL_WIDTH = 250
const NOTE_WIDTH = 190
const ROW_HEIGHT = 26
const BAR_HEIGHT = 16

/** Horizontal bars as inline SVG. Throws an Error for a value that the scale cannot show. */
export function barChart({ title, unit, bars, scale = 'linear' }: BarChart): string {
  const numbers = bars.flatMap(({ value, limit }) => (limit === undefined ? [value] : [value, limit]))
  const max = Math.max(...numbers)
  const min = scale === 'log' ? Math.min(...numbers) / 2 : 0
  if (!numbers.every((number) => Number.isFinite(number) && number >= 0) || (scale === 'log' && min <= 0))
    throw new Error(`The chart "${title}" has a value that a ${scale} scale cannot show.`)
  const space = WIDTH - LABEL_WIDTH - NOTE_WIDTH
  const place = (number: number): number => {
    const share = scale === 'log' ? Math.log(number / min) / Math.log(max / min) : max === 0 ? 0 : number / max
    return Math.round(share * space * 10) / 10
  }
  const rows = bars.map(({ label, value, note = `${value} ${unit}`, limit, verdict = '' }, at) => {
    const top = at * ROW_HEIGHT
    const length = Math.max(1, place(value))
    const line = limit === undefined ? '' : limitLine(LABEL_WIDTH + place(limit), top)
    const after = LABEL_WIDTH + Math.max(length, limit === undefined ? 0 : place(limit)) + 8
    return `<text x="${LABEL_WIDTH - 10}" y="${top + 15}" text-anchor="end">${escapeHtml(label)}</text>
<rect class="bar ${verdict}" x="${LABEL_WIDTH}" y="${top + 3}" width="${length}" height="${BAR_HEIGHT}" rx="2"/>${line}
<text class="muted" x="${after}" y="${top + 15}">${escapeHtml(note)}</text>`
  })
  const name = escapeHtml(`${title}, ${unit}${scale === 'log' ? ', logarithmic scale' : ''}`)
  return `<svg viewBox="0 0 ${WIDTH} ${bars.length * ROW_HEIGHT}" role="img" aria-label="${name}">\n${rows.join('\n')}\n</svg>`
}

const limitLine = (x: number, top: number): string => `<line class="limit" x1="${x}" x2="${x}" y1="${top}" y2="${top + BAR_HEIGHT + 6}"/>`
