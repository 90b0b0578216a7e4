import { marked } from 'marked'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { sanitize } from './sanitize.ts'
import { Code } from './code.tsx'
import { CopyButton } from './copy-button.tsx'
import { assetUrl } from '../assets.ts'
import { withoutFormulas, type Formula } from './formulas.ts'

type Block =
  | { readonly kind: 'html'; readonly html: string; readonly formulas: readonly Formula[] }
  | { readonly kind: 'code'; readonly text: string; readonly language: string }

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
          <Prose key={at} html={block.html} formulas={block.formulas} />
        ),
      )}
    </div>
  )
}

/** Code that can be copied; long code is folded. */
export function CodeBlock({
  text,
  language,
  foldedLines,
}: {
  readonly text: string
  readonly language: string
  readonly foldedLines: number
}) {
  const lines = text.split('\n').length
  const block = (
    <div class="code-block">
      <Code text={text} language={language} />
      <CopyButton text={text} label="Copy the block" />
    </div>
  )
  if (lines <= foldedLines) return block
  return (
    <details class="folded">
      <summary>
        {language === 'text' || language === '' ? 'Text' : 'Code'}, {lines} lines
      </summary>
      {block}
    </details>
  )
}

/** Markup whose formulas are set once the program for them has been loaded; until then they show as they were written. */
function Prose({ html, formulas }: { readonly html: string; readonly formulas: readonly Formula[] }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (formulas.length === 0) return
    void import('./katex.ts').then(({ drawFormula }) => {
      for (const element of place.current?.querySelectorAll('code') ?? []) {
        const formula = formulas.find(({ mark }) => mark === element.textContent)
        if (formula === undefined) continue
        const span = document.createElement(formula.isDisplay ? 'div' : 'span')
        span.className = 'latex'
        drawFormula(formula.text, span, { styleUrl: assetUrl('katex'), isDisplay: formula.isDisplay })
        element.replaceWith(span)
      }
    })
  }, [html])
  return <div ref={place} dangerouslySetInnerHTML={{ __html: html }} />
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = []
  let pending = ''
  const flush = (): void => {
    if (pending.trim() !== '') {
      const { text: rest, formulas } = withoutFormulas(pending)
      const html = sanitize(marked.parse(rest, { async: false, gfm: true }), { allowStyle: false })
      blocks.push({ kind: 'html', html, formulas })
    }
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
