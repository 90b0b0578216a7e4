import { writeFile } from 'node:fs/promises'
import { barChart, type Bar } from './bar-chart.ts'
import { escapeHtml } from './escape-html.ts'

/** One part of a report: text, a chart, a table, or several of them in this order. */
export interface ReportSection {
  readonly heading: string
  readonly text?: string
  readonly chart?: {
    readonly unit: string
    readonly bars: readonly Bar[]
    /** `log` for values that differ by more than a factor of 50; every value must be above 0. */
    readonly scale?: 'linear' | 'log'
  }
  readonly table?: { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] }
}

export interface HtmlReport {
  readonly title: string
  /** Where and when the figures were measured. */
  readonly about: readonly string[]
  readonly sections: readonly ReportSection[]
}

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; --ink: #1b1f27; --muted: #5d6675; --line: #dfe3ea; --bar: #4059d6; --good: #1a7f4b; --bad: #c0352b; --paper: #fff }
@media (prefers-color-scheme: dark) { :root { --ink: #e7eaf2; --muted: #9aa3b5; --line: #2c3342; --bar: #8fa3ff; --good: #59c98c; --bad: #ff8a80; --paper: #12161e } }
body { background: var(--paper); color: var(--ink); max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin-top: 2.2rem }
.about { color: var(--muted) }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top }
td.text, th:first-child { text-align: left }
svg { width: 100%; height: auto } svg text { fill: var(--ink); font: 12px system-ui, sans-serif } svg .muted { fill: var(--muted) }
.bar { fill: var(--bar) } .bar.good { fill: var(--good) } .bar.bad { fill: var(--bad) } .limit { stroke: var(--ink); stroke-width: 2 }`

/** One HTML document with inline charts; it loads nothing and runs no script. */
export const htmlReport = ({ title, about, sections }: HtmlReport): string =>
  `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
<h1>${escapeHtml(title)}</h1>
${about.map((line) => `<p class="about">${escapeHtml(line)}</p>`).join('\n')}
${sections.map(sectionHtml).join('\n')}
</html>
`

/** Writes the report and returns a sentence for the terminal. */
export async function writeHtmlReport(path: string, report: HtmlReport): Promise<string> {
  await writeFile(path, htmlReport(report))
  return `Report with charts: ${path}`
}

/** Numbers, also with a sign of comparison or currency, are aligned right. */
const isNumber = (cell: string): boolean => /^[\s$≤≥.\d-]*$/.test(cell)

function sectionHtml({ heading, text, chart, table }: ReportSection): string {
  const parts = [`<h2>${escapeHtml(heading)}</h2>`]
  if (text !== undefined) parts.push(`<p>${escapeHtml(text)}</p>`)
  if (chart !== undefined && chart.bars.length > 0) parts.push(barChart({ title: heading, ...chart }))
  if (table !== undefined) {
    const cells = (tag: 'th' | 'td', row: readonly string[]): string =>
      `<tr>${row.map((cell) => `<${tag}${isNumber(cell) ? '' : ' class="text"'}>${escapeHtml(cell)}</${tag}>`).join('')}</tr>`
    const rows = table.rows.map((row) => cells('td', row)).join('\n')
    parts.push(`<div class="wide"><table>\n<thead>${cells('th', table.head)}</thead>\n<tbody>\n${rows}\n</tbody></table></div>`)
  }
  return parts.join('\n')
}
