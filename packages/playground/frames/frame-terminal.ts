import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import css from '@xterm/xterm/css/xterm.css'
import { addStyle } from './report.ts'

// Escape sequences of untrusted programs are interpreted here, in a document with a separate origin.
addStyle(`${css}
  :root, body { background: #12161e; margin: 0; height: 100%; overflow: hidden }
  #terminal { position: absolute; inset: 8px 4px 8px 12px }`)
const place = document.createElement('div')
place.id = 'terminal'
document.body.append(place)

const terminal = new Terminal({
  cursorBlink: true,
  fontSize: 13,
  fontFamily: "ui-monospace, 'SF Mono', 'Cascadia Mono', 'Liberation Mono', 'DejaVu Sans Mono', monospace",
  theme: { background: '#12161e', foreground: '#e7eaf2', cursor: '#8fa3ff' },
  scrollback: 5_000,
  screenReaderMode: true,
  // Links in escape sequences stay text.
  linkHandler: { activate: () => undefined, allowNonHttpProtocols: false },
})
const fit = new FitAddon()
terminal.loadAddon(fit)
terminal.open(place)
fit.fit()

const tell = (message: object): void => parent.postMessage(message, '*')
terminal.onData((data) => tell({ type: 'input', data }))
terminal.onResize(({ cols, rows }) => tell({ type: 'resize', cols, rows }))
// The terminal takes the tabulator key, so the keyboard needs another way out.
terminal.attachCustomKeyEventHandler((event) => {
  if (!(event.type === 'keydown' && event.ctrlKey && event.shiftKey && event.key === 'Escape')) return true
  tell({ type: 'leave' })
  return false
})
new ResizeObserver(() => fit.fit()).observe(document.body)
addEventListener('message', ({ source, data }: MessageEvent<unknown>) => {
  if (source !== parent) return
  if (typeof data === 'string') terminal.write(data)
  else terminal.focus()
})
tell({ type: 'ready', cols: terminal.cols, rows: terminal.rows })
