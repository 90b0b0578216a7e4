/** Values by the name of the metric and its first label: `sandboxes{state="ready"}` is `metrics.sandboxes.ready`; '' without a label. */
export type Metrics = Readonly<Record<string, Readonly<Record<string, number>>>>

const LINE = /^cellblock_(\w+)(?:\{\w+="([^"]*)"[^}]*\})? ([\d.e+-]+)$/

/** Reads Prometheus's text format. Lines of histograms and of other programs are left out. */
export function readMetrics(text: string): Metrics {
  const found: Record<string, Record<string, number>> = {}
  for (const line of text.split('\n')) {
    const [, name, label = '', value] = LINE.exec(line) ?? []
    if (name === undefined || name.endsWith('_bucket')) continue
    ;(found[name] ??= {})[label] = Number(value)
  }
  return found
}
