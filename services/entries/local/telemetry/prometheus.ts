import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { definitionOf, measure, METRIC_NAMES, type MetricDefinition, type Measured, type MetricName } from '../../../model/metrics.ts'
import type { Telemetry } from '../../../ports/telemetry.ts'
import type { WideEvent } from '../../../model/wide-event.ts'
import { snakeCase } from '../../../model/snake-case.ts'

/** Histogram buckets from a live execution (milliseconds) to a turn with several executions (minutes), seconds. */
const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

type Record = (measured: Measured, event: WideEvent) => void

/** A value that is read when the metrics are read. */
export interface Probe {
  /** Without the prefix `cellblock_`. */
  readonly name: string
  readonly help: string
  readonly label?: string
  /** One value per label; the empty label for a gauge without one. */
  readonly read: () => Promise<Readonly<{ [label: string]: number }>>
}

/**
 * The service's metrics (`services/model/metrics.ts`) in Prometheus's text format: durations as histograms in seconds, events as counters,
 * levels as gauges. No metric has a tenant as a label: a series per tenant would grow without limit.
 */
export class PrometheusMetrics implements Telemetry {
  readonly #registry = new Registry()
  readonly #recorders: ReadonlyMap<MetricName, Record>

  constructor() {
    this.#recorders = new Map(METRIC_NAMES.map((name) => [name, this.#recorderOf(name, definitionOf(name))]))
  }

  emit(event: WideEvent): void {
    for (const measured of measure(event)) this.#recorders.get(measured.name)?.(measured, event)
  }

  /** Adds a gauge whose value is read for each answer. */
  addProbe({ name, help, label, read }: Probe): void {
    this.#registry.registerMetric(
      new Gauge({
        name: `cellblock_${name}`,
        help,
        labelNames: label === undefined ? [] : [label],
        registers: [],
        async collect() {
          this.reset()
          for (const [value, number] of Object.entries(await read())) this.set(label === undefined ? {} : { [label]: value }, number)
        },
      }),
    )
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }

  #recorderOf(name: MetricName, definition: MetricDefinition): Record {
    const { unit, value, means, by } = definition
    const base = `cellblock_${snakeCase(name)}`
    const common = { help: sentence(means), registers: [this.#registry], labelNames: by === undefined ? [] : [by] }
    const labels = (event: WideEvent) => (by === undefined ? {} : { [by]: String(event[by]) })
    if (unit === 'Milliseconds') {
      const histogram = new Histogram({ ...common, name: `${base}_seconds`, buckets: BUCKETS_SECONDS })
      return (measured, event) => histogram.observe(labels(event), measured.value / 1000)
    }
    if (value !== undefined && unit === 'Count') {
      const gauge = new Gauge({ ...common, name: base })
      return (measured, event) => gauge.set(labels(event), measured.value)
    }
    const counter = new Counter({ ...common, name: `${base}_total` })
    return (measured, event) => counter.inc(labels(event), measured.value)
  }
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
