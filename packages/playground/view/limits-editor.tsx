import { useState } from 'preact/hooks'
import { changeLimit, limits, type TenantLimit } from '../state/admin.ts'
import { bytesText } from '../render/format.ts'
import { PlainTable } from './plain-table.tsx'

/** Every limit of the tenant. What the tenant itself has set can be given back to the plan or the default. */
export function LimitsEditor() {
  return (
    <details class="limits">
      <summary>{Object.keys(limits.value).length} limits</summary>
      <div class="table-box">
        <PlainTable label="Limits" titles={['Limit', 'Value', 'Set by']}>
          {Object.entries(limits.value).map(([name, limit]) => (
            <LimitRow key={name} name={name} limit={limit} />
          ))}
        </PlainTable>
      </div>
    </details>
  )
}

const SIZE = /^(\d+(?:\.\d+)?)\s*([kmgt])(?:i?b)?$/i
const POWERS = 'kmgt'

/** A number, or a size such as `512m`. */
const parsed = (text: string, unit: string): number | string => {
  const [, digits, power] = SIZE.exec(text.trim()) ?? []
  if (unit === 'tier') return text.trim()
  if (unit !== 'bytes' || digits === undefined || power === undefined) return Number(text)
  return Math.round(Number(digits) * 1024 ** (POWERS.indexOf(power.toLowerCase()) + 1))
}

function LimitRow({ name, limit }: { readonly name: string; readonly limit: TenantLimit }) {
  const [text, setText] = useState<string | null>(null)
  const value = parsed(text ?? '', limit.unit)
  const isValid = text !== null && text.trim() !== '' && (typeof value === 'string' || Number.isFinite(value))
  return (
    <tr>
      <td>{name.replaceAll('_', ' ')}</td>
      <td>
        <form
          class="limit-form"
          onSubmit={(event) => {
            event.preventDefault()
            if (isValid) void changeLimit(name, value).then(() => setText(null))
          }}
        >
          <input
            aria-label={name.replaceAll('_', ' ')}
            value={text ?? String(limit.value)}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <small>
            {limit.unit === 'bytes' && typeof limit.value === 'number' ? bytesText(limit.value) : limit.unit === 'count' ? '' : limit.unit}
          </small>
          {isValid && text !== String(limit.value) && (
            <button type="submit" class="plain">
              Save
            </button>
          )}
        </form>
      </td>
      <td>
        {limit.set_by}
        {limit.set_by === 'tenant' && (
          <button type="button" class="plain" onClick={() => void changeLimit(name, null)}>
            Reset<span class="hidden"> {name.replaceAll('_', ' ')}</span>
          </button>
        )}
      </td>
    </tr>
  )
}
