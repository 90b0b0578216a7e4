import Plotly from 'plotly.js-dist-min'
import { addStyle, DARK, isDark, receive } from './report.ts'

addStyle('body { margin: 0 } #chart { height: 370px }')
const chart = document.createElement('div')
chart.id = 'chart'
document.body.append(chart)

interface Layout {
  readonly template?: object
  readonly paper_bgcolor?: string
}

const AXIS = { gridcolor: DARK.line, linecolor: DARK.line, zerolinecolor: DARK.line }
/** As a template, so that every colour of the chart itself wins. */
const DARK_TEMPLATE = {
  layout: { paper_bgcolor: DARK.background, plot_bgcolor: DARK.background, font: { color: DARK.text }, xaxis: AXIS, yaxis: AXIS },
}

receive((data) => {
  const { data: traces = [], layout = {} } = data as { readonly data?: never[]; readonly layout?: Layout }
  // A chart with a template or a background has chosen its colours.
  const isThemed = isDark && layout.template === undefined && layout.paper_bgcolor === undefined
  document.documentElement.style.background = isThemed ? DARK.background : '#fff'
  const themed = { ...(isThemed && { template: DARK_TEMPLATE }), ...layout, autosize: true }
  void Plotly.newPlot(chart, traces, themed, {
    responsive: true,
    displaylogo: false,
    showSendToCloud: false,
    // Without a pointer that hovers the bar would stay over the title.
    displayModeBar: matchMedia('(hover: hover)').matches ? 'hover' : false,
  })
})
