import * as z from 'zod'
import { boundedList, boundedRecord } from '../../model/bounded-schemas.ts'
import { lazySchema, type Described } from '../../model/lazy-schema.ts'
import { safeParse } from '../../model/safe-parse.ts'

/** What the kernel adds to displays of tables and figures. E2B's clients read both in another form. */
export const TABLE_MIME = 'application/vnd.dataresource+json'
export const CHART_MIME = 'application/vnd.cellblock.chart.v1+json'

const MAX_VALUES = 20_000
const MAX_COLUMNS = 1_000
const values = lazySchema(() => boundedList(z.union([z.number(), z.string(), z.boolean(), z.null()]), { max: MAX_VALUES }))
const Axis = lazySchema(() =>
  z.object({
    label: z.string().nullable(),
    scale: z.string(),
    ticks: values().optional(),
    tick_labels: boundedList(z.string(), { max: MAX_VALUES }).optional(),
  }),
)
const number = lazySchema(() => z.number().nullable())
const Box = lazySchema(() =>
  z.object({
    label: z.string().nullish(),
    min: number(),
    q1: number(),
    median: number(),
    q3: number(),
    max: number(),
    outliers: boundedList(number(), { max: MAX_VALUES }).optional(),
  }),
)
const Series = lazySchema(() =>
  z.object({
    kind: z.string(),
    label: z.string().nullish(),
    orientation: z.string().optional(),
    x: values().optional(),
    y: values().optional(),
    categories: values().optional(),
    values: values().optional(),
    radius: z.number().optional(),
    boxes: boundedList(Box(), { max: MAX_VALUES }).optional(),
  }),
)
type Series = Described<typeof Series>
const Chart = lazySchema(() =>
  z.object({
    kind: z.string(),
    title: z.string().nullable(),
    x: Axis(),
    y: Axis(),
    series: boundedList(Series(), { max: 1_000 }),
  }),
)
type Chart = Described<typeof Chart>
const Figure = lazySchema(() => z.object({ title: z.string().nullable(), charts: boundedList(Chart(), { max: 100 }) }))

/** A unit in a label, as in `Time (s)` and `Speed [m/s]`. */
const UNIT = /\s\((.*?)\)|\[(.*?)\]/
const unitOf = (label: string | null): string | null => {
  const [, round, square] = UNIT.exec(label ?? '') ?? []
  return round ?? square ?? null
}

const labels = ({ x, y }: Chart) => ({ x_label: x.label, y_label: y.label, x_unit: unitOf(x.label), y_unit: unitOf(y.label) })

const ticks = ({ x, y }: Chart) => ({
  x_ticks: x.ticks ?? [],
  x_tick_labels: x.tick_labels ?? [],
  x_scale: x.scale,
  y_ticks: y.ticks ?? [],
  y_tick_labels: y.tick_labels ?? [],
  y_scale: y.scale,
})

const points = (name: string, series: readonly Series[]) =>
  series.map(({ label, x = [], y = [] }, index) => ({
    label: label ?? `${name} ${index}`,
    points: x.map((value, at) => [value, y[at] ?? null]),
  }))

const bars = (series: readonly Series[]) =>
  series.flatMap(({ label, categories = [], values: lengths = [] }, index) =>
    categories.map((category, at) => ({ label: String(category), group: label ?? `Group ${index}`, value: lengths[at] ?? null })),
  )

const FULL_CIRCLE = 360
const slices = (series: readonly Series[]) =>
  series.flatMap(({ categories = [], values: shares = [], radius }) =>
    categories.map((category, at) => ({
      label: category === null ? '' : String(category),
      angle: Number((Number(shares[at] ?? 0) * FULL_CIRCLE).toPrecision(6)),
      radius: radius ?? 1,
    })),
  )

const boxes = (series: readonly Series[]) =>
  series.flatMap(({ boxes: found = [] }) =>
    found.map(({ label, q1, q3, outliers = [], ...box }) => ({
      ...box,
      label: label ?? '',
      first_quartile: q1,
      third_quartile: q3,
      outliers,
    })),
  )

type Elements = (chart: Chart) => Readonly<Record<string, unknown>>
const KINDS: Readonly<Record<string, Elements>> = {
  line: (chart) => ({ type: 'line', ...labels(chart), ...ticks(chart), elements: points('Line', chart.series) }),
  scatter: (chart) => ({ type: 'scatter', ...labels(chart), ...ticks(chart), elements: points('Points', chart.series) }),
  bar: (chart) => ({ type: 'bar', ...withUprightAxes(chart), elements: bars(chart.series) }),
  pie: ({ series }) => ({ type: 'pie', elements: slices(series) }),
  box: (chart) => ({ type: 'box_and_whisker', ...withUprightAxes(chart), elements: boxes(chart.series) }),
}

/** E2B names the axes of lying bars as if they stood. */
function withUprightAxes(chart: Chart): ReturnType<typeof labels> {
  const isLying = chart.series.every(({ orientation }) => orientation === 'horizontal')
  return labels(isLying ? { ...chart, x: chart.y, y: chart.x } : chart)
}

const chartOf = (chart: Chart): Readonly<Record<string, unknown>> => ({
  title: chart.title,
  ...(KINDS[chart.kind]?.(chart) ?? { type: 'unknown', ...labels(chart), elements: [] }),
})

/** The kernel's data of a figure as E2B has it: one chart, or a `superchart` of several. Undefined for data that the kernel does not make. */
export function e2bChart(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const figure = safeParse(Figure(), value).data
  const [first, ...more] = figure?.charts ?? []
  if (figure === undefined || first === undefined) return undefined
  if (more.length === 0) return chartOf(first)
  return { type: 'superchart', title: figure.title, elements: figure.charts.map(chartOf) }
}

const Table = lazySchema(() =>
  z.object({
    schema: z.object({
      fields: boundedList(z.object({ name: z.string() }), { max: 1_000 }),
      primaryKey: boundedList(z.string(), { max: 1_000 }),
    }),
    data: boundedList(boundedRecord(z.string(), z.unknown(), MAX_COLUMNS), { max: MAX_VALUES }),
    cellblock: z.object({ rows: z.int(), columns: z.int(), rows_shown: z.int(), columns_shown: z.int() }),
  }),
)

/** A table as E2B has it: columns to lists, without the index. Undefined for a table of which the kernel sends a part only. */
export function e2bData(value: unknown): Readonly<Record<string, readonly unknown[]>> | undefined {
  const table = safeParse(Table(), value).data
  if (table === undefined) return undefined
  const { schema, data, cellblock: size } = table
  if (size.rows > size.rows_shown || size.columns > size.columns_shown) return undefined
  const names = schema.fields.map(({ name }) => name).filter((name) => !schema.primaryKey.includes(name))
  return Object.fromEntries(names.map((name) => [name, data.map((row) => row[name] ?? null)]))
}

/** In Node since version 21, without a type. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown }

/** The chart as it is sent: its whole numbers as `1.0`, because clients in Python tell them from integers. */
export function withFloats(value: unknown): unknown {
  // From 1e21 on a number has an exponent, which Python takes as a fraction too.
  if (typeof value === 'number') return /^-?\d+$/.test(String(value)) ? rawJSON(`${value}.0`) : value
  if (Array.isArray(value)) return value.map(withFloats)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, withFloats(entry)]))
}
