import { marked } from 'marked'
import { useMemo } from 'preact/hooks'
import { sanitize } from './sanitize.ts'
import { Code } from './code.tsx'

type Block = { readonly kind: 'html'; readonly html: string } | { readonly kind: 'code'; readonly text: string; readonly language: string }

/** Longer code blocks are folded, lines. */
const FOLDED_LINES = 12

/** Markdown of a model or of code. Code blocks are components; everything else is sanitized markup. */
export function Markdown({ text, foldedLines = FOLDED_LINES }: { readonly text: string; readonly foldedLines?: number }) {
  const blocks = useMemo(() => blocksOf(text), [text])
  return (
    <div class="markdown">
      {blocks.map((block, at) =>
        block.kind === 'code' ? (
          <CodeBlock key={at} text={block.text} language={block.language} foldedLines={foldedLines} />
        ) : (
          <div key={at} dangerouslySetInnerHTML={{ __html: block.html }} />
        ),
      )}
    </div>
  )
}

function CodeBlock({ text, language, foldedLines }: { readonly text: string; readonly language: string; readonly foldedLines: number }) {
  const lines = text.split('\n').length
  if (lines <= foldedLines) return <Code text={text} language={language} />
  return (
    <details class="folded">
      <summary>
        {language === 'text' || language === '' ? 'Text' : 'Code'}, {lines} lines
      </summary>
      <Code text={text} language={language} />
    </details>
  )
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = []
  let pending = ''
  const flush = (): void => {
    if (pending.trim() !== '')
      blocks.push({ kind: 'html', html: sanitize(marked.parse(pending, { async: false, gfm: true }), { allowStyle: false }) })
    pending = ''
  }
  for (const token of marked.lexer(text, { gfm: true })) {
    if (token.type === 'code') {
      flush()
      blocks.push({ kind: 'code', text: String(token['text'] ?? ''), language: String(token['lang'] ?? '') })
    } else pending += token.raw
  }
  flush()
  return blocks
}
