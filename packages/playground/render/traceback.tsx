import { Ansi } from './ansi.tsx'

/** An exception in one line; its traceback opens below. */
export function Traceback({ name, value, lines }: { readonly name: string; readonly value: string; readonly lines: readonly string[] }) {
  return (
    <details class="traceback">
      <summary>
        <strong>{name}</strong>
        {value === '' ? '' : `: ${value.split('\n')[0]}`}
      </summary>
      {lines.length > 0 ? <Ansi text={lines.join('\n')} label="Traceback" /> : <pre>{value}</pre>}
    </details>
  )
}
