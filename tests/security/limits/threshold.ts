import type { Form, LimitHarness } from './harness.ts'

/** One measured figure and its threshold. */
export interface Finding {
  readonly what: string
  readonly value: string
  readonly threshold: string
  readonly holds: boolean
}

export interface Threshold {
  /** The id of the threshold, such as `C-20`. */
  readonly id: string
  readonly title: string
  /** True if it takes minutes and has no short form. */
  readonly isLong?: boolean
  measure(harness: LimitHarness, form: Form): Promise<readonly Finding[]>
}

/** In the short form other suites share the machine, so times only distinguish an end from a hang. */
const SLACK: Record<Form, number> = { short: 10, long: 1 }

export const atMost = (form: Form, what: string, value: number, max: number, unit: string): Finding => ({
  what,
  value: `${round(value)} ${unit}`,
  threshold: `≤ ${max} ${unit}`,
  holds: value <= max * (unit === 'ms' || unit === 's' || unit === '×' ? SLACK[form] : 1),
})

export const same = (what: string, value: unknown, expected: unknown): Finding => ({
  what,
  value: JSON.stringify(value),
  threshold: JSON.stringify(expected),
  holds: JSON.stringify(value) === JSON.stringify(expected),
})

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN

const round = (value: number): number => (Math.abs(value) >= 100 ? Math.round(value) : Math.round(value * 100) / 100)
