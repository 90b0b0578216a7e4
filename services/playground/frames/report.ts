/** Tells the page how high the document is, and receives the one value to show. The page sends it after `ready`. */
export function receive(show: (data: unknown) => void): void {
  addEventListener('message', ({ source, data }) => {
    if (source === parent) show(data)
  })
  new ResizeObserver(() => parent.postMessage(document.documentElement.scrollHeight, '*')).observe(document.body)
  parent.postMessage('ready', '*')
}

export function addStyle(text: string): void {
  const style = document.createElement('style')
  style.textContent = text
  document.head.append(style)
}
