import { classHighlighter, highlightCode } from '@lezer/highlight'
import { parser } from '@lezer/python'

export interface Span {
  readonly text: string
  readonly classes: string
}

/** Python in pieces, each with the classes of its tokens. */
export function highlight(code: string): Span[] {
  const spans: Span[] = []
  highlightCode(
    code,
    parser.parse(code),
    classHighlighter,
    (text, classes) => spans.push({ text, classes }),
    () => spans.push({ text: '\n', classes: '' }),
  )
  return spans
}
