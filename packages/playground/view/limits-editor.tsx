import { useState } from 'preact/hooks'
import { changeLimit, limits, type TenantLimit } from '../state/admin.ts'
import { bytesText } from '../render/format.ts'
import { amountText, LimitMeter } from './limit-bars.tsx'
import { PlainTable } from './plain-table.tsx'

/** The limits of the tenant: as bars what is counted, below them every one. What the tenant itself has set can be given back to the plan or the default. */
export function LimitsEditor() {
  const all = Object.entries(limits.value)
  const counted = all.flatMap(([name, limit]) =>
    limit.used === null || typeof limit.value !== 'number' ? [] : [{ name, limit, value: limit.value, used: limit.used }],
  )
  return (
    <>
      <ul class="limit-bars">
        {counted.map(({ name, limit, value, used }) => (
          <li key={name}>
            <span>{name.replaceAll('_', ' ')}</span>
            <LimitMeter name={name} used={used} value={value} />
            <small>{amountText(used, limit.unit)} of</small>
            <LimitForm name={name} limit={limit} />
          </li>
        ))}
      </ul>
      <details class="limits">
        <summary>{all.length} limits</summary>
        <div class="table-box">
          <PlainTable label="Limits" titles={['Limit', 'Value', 'Set by']}>
            {all.map(([name, limit]) => (
              <tr key={name}>
                <td>{name.replaceAll('_', ' ')}</td>
                <td>
                  <LimitForm name={name} limit={limit} />
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
            ))}
          </PlainTable>
        </div>
      </details>
    </>
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

function LimitForm({ name, limit }: { readonly name: string; readonly limit: TenantLimit }) {
  const [text, setText] = useState<string | null>(null)
  const value = parsed(text ?? '', limit.unit)
  const isValid = text !== null && text.trim() !== '' && (typeof value === 'string' || Number.isFinite(value))
  return (
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
  )
}
