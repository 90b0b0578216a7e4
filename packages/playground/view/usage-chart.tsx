import { useState } from 'preact/hooks'
import type { Usage, UsageSum } from '../state/admin.ts'

const MEASURES = [
  ['executions', 'Executions', (sum: UsageSum) => sum.executions, (value: number) => value.toLocaleString('en')],
  ['seconds', 'Sandbox seconds', (sum: UsageSum) => sum.sandbox_seconds, (value: number) => `${Math.round(value).toLocaleString('en')} s`],
  ['cost', 'Cost', (sum: UsageSum) => sum.cost_usd, (value: number) => `$${value.toFixed(value < 1 ? 4 : 2)}`],
  [
    'tokens',
    'Model tokens',
    (sum: UsageSum) => sum.model_input_tokens + sum.model_output_tokens,
    (value: number) => value.toLocaleString('en'),
  ],
] as const

const DAY_MS = 24 * 60 * 60 * 1000
const BAR = { width: 18, gap: 4, height: 140 } as const
/** Space for the values of the axis. */
const AXIS = 64

/** What a tenant used per day, as bars; the same figures are in the table that screen readers read. */
export function UsageChart({ usage }: { readonly usage: Usage }) {
  const [chosen, setChosen] = useState(0)
  const [, title, valueOf, textOf] = MEASURES[chosen] ?? MEASURES[0]
  const byDate = new Map(usage.days.map((day) => [day.date, valueOf(day)]))
  const dates = datesBetween(usage.from, usage.to)
  const highest = Math.max(...byDate.values(), 0)
  const step = BAR.width + BAR.gap
  return (
    <section aria-label="Usage">
      <h2>
        Usage from {usage.from} to {usage.to}
      </h2>
      <div class="measures" role="group" aria-label="Measure">
        {MEASURES.map(([id, name, read, show], at) => (
          <button key={id} type="button" aria-pressed={at === chosen} onClick={() => setChosen(at)}>
            <span>{name}</span> <strong>{show(read(usage.total))}</strong>
          </button>
        ))}
      </div>
      <p class="today">
        {title} today: <strong>{textOf(byDate.get(usage.to) ?? 0)}</strong>
      </p>
      <svg
        class="bars"
        viewBox={`${-AXIS} -8 ${AXIS + dates.length * step} ${BAR.height + 30}`}
        role="img"
        aria-label={`${title} per day, at most ${textOf(highest)} a day`}
      >
        {[1, 0.5, 0].map((share) => (
          <g key={share}>
            <line class="axis" x1={0} x2={dates.length * step} y1={BAR.height * (1 - share)} y2={BAR.height * (1 - share)} />
            <text x={-8} y={BAR.height * (1 - share) + 4} text-anchor="end">
              {textOf(highest * share)}
            </text>
          </g>
        ))}
        {dates.map((date, at) => {
          const height = highest === 0 ? 0 : (BAR.height * (byDate.get(date) ?? 0)) / highest
          return (
            <g key={date}>
              <rect class="bar-space" x={at * step} y={0} width={BAR.width} height={BAR.height} rx={3} />
              <rect class="bar-value" x={at * step} y={BAR.height - height} width={BAR.width} height={height} rx={3}>
                <title>{`${date}: ${textOf(byDate.get(date) ?? 0)}`}</title>
              </rect>
              {at % 7 === 0 && (
                <text x={at * step} y={BAR.height + 16}>
                  {date.slice(5)}
                </text>
              )}
            </g>
          )
        })}
      </svg>
    </section>
  )
}

function datesBetween(from: string, to: string): string[] {
  const dates: string[] = []
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS) dates.push(new Date(at).toISOString().slice(0, 10))
  return dates
}
