import { parse, View, type Config, type Spec } from 'vega'
import { compile, type TopLevelSpec } from 'vega-lite'
import { addStyle, DARK, isDark, receive } from './report.ts'

addStyle('body { margin: 8px; font: 14px system-ui, sans-serif }')
const chart = document.createElement('div')
document.body.append(chart)

const DARK_CONFIG: Config = {
  background: DARK.background,
  title: { color: DARK.text, subtitleColor: DARK.text },
  style: { 'guide-label': { fill: DARK.text }, 'guide-title': { fill: DARK.text }, cell: { stroke: DARK.line } },
  axis: { domainColor: DARK.line, gridColor: DARK.line, tickColor: DARK.line },
}

interface Colours {
  readonly $schema?: unknown
  readonly background?: unknown
  readonly config?: { readonly background?: unknown }
}

receive((data) => {
  const { $schema: schema, background, config } = data as Colours
  // A chart with a background has chosen its colours.
  const isThemed = isDark && background === undefined && config?.background === undefined
  document.documentElement.style.background = isThemed ? DARK.background : '#fff'
  const isLite = typeof schema !== 'string' || schema.includes('vega-lite')
  // Vega-Lite writes a white background into what it compiles, unless its own settings have another.
  const spec: Spec = isLite
    ? compile(data as TopLevelSpec, isThemed ? { config: { background: DARK.background } } : {}).spec
    : (data as Spec)
  const view = new View(parse(spec, isThemed ? DARK_CONFIG : {}), { renderer: 'svg', container: chart, hover: true })
  view.runAsync().catch((error: unknown) => {
    chart.textContent = `The chart could not be drawn: ${String(error)}`
  })
})
