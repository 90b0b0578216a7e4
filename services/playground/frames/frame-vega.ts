import { parse, View } from 'vega'
import { compile, type TopLevelSpec } from 'vega-lite'
import { addStyle, receive } from './report.ts'

addStyle(':root { background: #fff } body { margin: 8px; font: 14px system-ui, sans-serif }')
const chart = document.createElement('div')
document.body.append(chart)
receive((data) => {
  const schema = (data as { readonly $schema?: unknown }).$schema
  const spec = typeof schema !== 'string' || schema.includes('vega-lite') ? compile(data as TopLevelSpec).spec : (data as never)
  new View(parse(spec), { renderer: 'svg', container: chart, hover: true }).runAsync().catch((error: unknown) => {
    chart.textContent = `The chart could not be drawn: ${String(error)}`
  })
})
