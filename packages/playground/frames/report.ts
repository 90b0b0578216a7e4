/** The page names its theme in the address of a chart. */
export const isDark = location.hash === '#dark'
export const DARK = { background: '#181c25', text: '#e7eaf2', line: '#39415a' } as const

/** Tells the page how high the document is, and receives the one value to show. The page sends it after `ready`. */
export function receive(show: (data: unknown) => void): void {
  addEventListener('message', ({ source, data }) => {
    if (source === parent) show(data)
  })
  // The document itself is never lower than its frame, so the height is that of the body with its margins.
  new ResizeObserver(() => {
    const { marginTop, marginBottom } = getComputedStyle(document.body)
    parent.postMessage(document.body.scrollHeight + parseFloat(marginTop) + parseFloat(marginBottom), '*')
  }).observe(document.body)
  parent.postMessage('ready', '*')
}

export function addStyle(text: string): void {
  const style = document.createElement('style')
  style.textContent = text
  document.head.append(style)
}
