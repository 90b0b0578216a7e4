import { useEffect, useState } from 'preact/hooks'

/** Larger tables are not read only to count their rows. */
const MAX_BYTES = 1024 * 1024
const ENDINGS: Readonly<Record<string, string>> = { csv: ',', tsv: '\t' }
/** Tables that were counted stay known while their file does not change. */
const MAX_KNOWN = 500
const known = new Map<string, string>()
/** One after another: a panel of many tables is no burst of requests. */
let reading = Promise.resolve()

/** Rows and columns of a table beside its size, once it has been read; nothing for another file. */
export function FileShape({ path, bytes, url }: { readonly path: string; readonly bytes: number; readonly url: string }) {
  const separator = ENDINGS[/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '']
  const key = `${url} ${bytes}`
  const [shape, setShape] = useState(known.get(key))
  useEffect(() => {
    if (separator === undefined || bytes > MAX_BYTES || known.has(key)) return setShape(known.get(key))
    let isShown = true
    reading = reading
      .then(() => (isShown ? count(url, separator) : undefined))
      .then(
        (found) => {
          if (found === undefined) return
          if (known.size >= MAX_KNOWN) known.clear()
          known.set(key, found)
          if (isShown) setShape(found)
        },
        // The size alone is shown.
        () => undefined,
      )
    return () => {
      isShown = false
    }
  }, [key])
  return shape === undefined ? null : <span title="Rows and columns"> · {shape}</span>
}

async function count(url: string, separator: string): Promise<string | undefined> {
  const response = await fetch(url)
  if (!response.ok) return undefined
  const { csvShape } = await import('../render/table-data.ts')
  const { rows, columns } = csvShape(await response.text(), separator)
  return columns === 0 ? undefined : `${rows.toLocaleString('en')} × ${columns}`
}
