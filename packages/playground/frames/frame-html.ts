import { addStyle, receive } from './report.ts'

addStyle(`
  :root { color-scheme: light; background: #fff; color: #1b1f27; font: 14px/1.5 system-ui, sans-serif }
  body { margin: 8px; overflow-wrap: anywhere; display: flow-root }
  table { border-collapse: collapse; font-variant-numeric: tabular-nums }
  th, td { padding: 4px 10px; border-bottom: 1px solid #e3e6ec; text-align: right }
  img { max-width: 100% }
`)
// A policy does not cover connections that a link asks for in advance, and a nested document may hold such links too.
const REMOVED = 'link, meta, base, iframe, frame, frameset, object, embed, portal, fencedframe, template'

// The policy of this document runs no script of the markup and loads nothing that the markup names.
receive((html) => {
  const parsed = new DOMParser().parseFromString(String(html), 'text/html')
  for (const element of parsed.querySelectorAll(REMOVED)) element.remove()
  document.body.replaceChildren(...parsed.head.childNodes, ...parsed.body.childNodes)
})
