import katex from 'katex'

let hasStyle = false

export function drawFormula(
  text: string,
  place: HTMLElement,
  { styleUrl, isDisplay = true }: { readonly styleUrl: string; readonly isDisplay?: boolean },
): void {
  if (!hasStyle) {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = styleUrl
    document.head.append(link)
    hasStyle = true
  }
  katex.render(text, place, {
    displayMode: isDisplay,
    throwOnError: false,
    trust: false,
    strict: 'ignore',
    maxExpand: 500,
    maxSize: 20,
    output: 'html',
  })
}
