import type { Ground } from './ground.ts'

/** `short` is part of `npm test` on a machine that is busy with other suites; `long` is the bar itself, with every repetition. */
export type Form = 'short' | 'long'

/** One figure beside its bar. */
export interface Finding {
  readonly what: string
  readonly value: string
  readonly bar: string
  readonly holds: boolean
}

export interface Bar {
  /** Its number among the bars, such as `C-20`. */
  readonly id: string
  readonly title: string
  /** Takes minutes, so it has no short form. */
  readonly isLong?: boolean
  measure(ground: Ground, form: Form): Promise<readonly Finding[]>
}

/** In the short form other suites share the machine: seconds are only there to tell an end from a hang. */
const SLACK: Record<Form, number> = { short: 10, long: 1 }

export const atMost = (form: Form, what: string, value: number, most: number, unit: string): Finding => ({
  what,
  value: `${round(value)} ${unit}`,
  bar: `≤ ${most} ${unit}`,
  holds: value <= most * (unit === 'ms' || unit === 's' || unit === '×' ? SLACK[form] : 1),
})

export const same = (what: string, value: unknown, wanted: unknown): Finding => ({
  what,
  value: JSON.stringify(value),
  bar: JSON.stringify(wanted),
  holds: JSON.stringify(value) === JSON.stringify(wanted),
})

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN

const round = (value: number): number => (Math.abs(value) >= 100 ? Math.round(value) : Math.round(value * 100) / 100)
