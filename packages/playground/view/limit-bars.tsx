import { bytesText } from '../render/format.ts'

export interface LimitsAnswer {
  readonly limits: Readonly<Record<string, { readonly value: number; readonly unit: string; readonly used: number | null }>>
}

/** What of each counted limit is used. */
export function LimitBars({ answer }: { readonly answer: LimitsAnswer }) {
  const counted = Object.entries(answer.limits).flatMap(([name, limit]) =>
    limit.used === null ? [] : [{ name, ...limit, used: limit.used }],
  )
  return (
    <section aria-label="Limits">
      <h3>Limits</h3>
      <ul class="limit-bars">
        {counted.map(({ name, value, unit, used }) => (
          <li key={name}>
            <span>{name.replaceAll('_', ' ')}</span>
            <LimitMeter name={name} used={used} value={value} />
            <small>
              {amountText(used, unit)} of {amountText(value, unit)}
            </small>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The used part of a limit; it changes its colour near the end. */
export const LimitMeter = ({ name, used, value }: { readonly name: string; readonly used: number; readonly value: number }) => (
  <meter min={0} max={value} high={value * 0.8} value={Math.min(used, value)} aria-label={`Used: ${name.replaceAll('_', ' ')}`} />
)

export const amountText = (value: number, unit: string): string =>
  unit === 'bytes' ? bytesText(value) : value.toLocaleString('en', { maximumFractionDigits: 2 })
