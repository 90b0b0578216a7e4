import { CodeBlock } from './markdown.tsx'

const FENCE = /```([^\n`]*)\n([\s\S]*?)(?:\n```|$)/g

/** Text as a person typed it: only fenced code is set apart, and nothing else is markup. */
export function FencedText({ text, foldedLines }: { readonly text: string; readonly foldedLines: number }) {
  const parts: { readonly code: boolean; readonly text: string; readonly language: string }[] = []
  let from = 0
  for (const match of text.matchAll(FENCE)) {
    parts.push({ code: false, text: text.slice(from, match.index), language: '' })
    parts.push({ code: true, text: match[2] ?? '', language: (match[1] ?? '').trim() })
    from = match.index + match[0].length
  }
  parts.push({ code: false, text: text.slice(from), language: '' })
  return (
    <div class="markdown">
      {parts.map((part, at) =>
        part.code ? (
          <CodeBlock key={at} text={part.text} language={part.language} foldedLines={foldedLines} />
        ) : (
          part.text.trim() !== '' && (
            <p key={at} class="typed">
              {part.text.trim()}
            </p>
          )
        ),
      )}
    </div>
  )
}
