import { useEffect, useState } from 'preact/hooks'

interface Span {
  readonly text: string
  readonly classes: string
}

/** Source code, coloured once the highlighter has been loaded. */
export function Code({ text, language = 'python' }: { readonly text: string; readonly language?: string }) {
  const [spans, setSpans] = useState<readonly Span[] | null>(null)
  useEffect(() => {
    let isCurrent = true
    setSpans(null)
    if (/^(?:python|py)?$/i.test(language))
      void import('./highlight.ts').then(({ highlight }) => {
        if (isCurrent) setSpans(highlight(text))
      })
    return () => {
      isCurrent = false
    }
  }, [text, language])
  return (
    <pre class="code" tabIndex={0}>
      <code>
        {spans === null
          ? text
          : spans.map((span, at) =>
              span.classes === '' ? (
                span.text
              ) : (
                <span key={at} class={span.classes}>
                  {span.text}
                </span>
              ),
            )}
      </code>
    </pre>
  )
}
