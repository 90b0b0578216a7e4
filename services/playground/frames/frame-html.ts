import { addStyle, receive } from './report.ts'

addStyle(`
  :root { color-scheme: light; background: #fff; color: #1b1f27; font: 14px/1.5 system-ui, sans-serif }
  body { margin: 8px; overflow-wrap: anywhere }
  table { border-collapse: collapse; font-variant-numeric: tabular-nums }
  th, td { padding: 4px 10px; border-bottom: 1px solid #e3e6ec; text-align: right }
  img { max-width: 100% }
`)
// The policy of this document runs no script of the markup and loads nothing that the markup names.
receive((html) => {
  document.body.innerHTML = String(html)
})
