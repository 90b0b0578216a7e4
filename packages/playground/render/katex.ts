import katex from 'katex'

let hasStyle = false

export function drawFormula(text: string, place: HTMLElement, styleUrl: string): void {
  if (!hasStyle) {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = styleUrl
    document.head.append(link)
    hasStyle = true
  }
  katex.render(text, place, {
    displayMode: true,
    throwOnError: false,
    trust: false,
    strict: 'ignore',
    maxExpand: 500,
    maxSize: 20,
    output: 'html',
  })
}
