import Plotly from 'plotly.js-dist-min'
import { addStyle, receive } from './report.ts'

addStyle(':root { background: #fff } body { margin: 0 } #chart { height: 370px }')
const chart = document.createElement('div')
chart.id = 'chart'
document.body.append(chart)
receive((data) => {
  const { data: traces = [], layout = {} } = data as { readonly data?: never[]; readonly layout?: object }
  void Plotly.newPlot(chart, traces, { ...layout, autosize: true }, { responsive: true, displaylogo: false, showSendToCloud: false })
})
