import { AnsiUp } from 'ansi_up'
import { useMemo } from 'preact/hooks'
import { sanitize } from './sanitize.ts'

/** Printed text with its colours. Links in escape sequences stay text, and a carriage return starts the line again, as in a terminal. */
export function Ansi({ text, label }: { readonly text: string; readonly label?: string }) {
  const html = useMemo(() => {
    const converter = new AnsiUp()
    converter.use_classes = true
    converter.url_allowlist = {}
    return sanitize(converter.ansi_to_html(rewriteLines(text)), { allowStyle: true })
  }, [text])
  return <pre class="ansi" aria-label={label} tabIndex={0} dangerouslySetInnerHTML={{ __html: html }} />
}

const rewriteLines = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => line.slice(line.lastIndexOf('\r', line.length - 2) + 1).replace(/\r$/, ''))
    .join('\n')
