import type { NoiseFigure } from './measure-noise.ts'

/** Forms that are the same load on another route begin with it. */
const DOCUMENT_FORM = 'JSON of '
const MAX_RATIO = 2
const MAX_P99_MS = 250
const MAX_GROWN_MIB = 256

/** Which thresholds a figure misses. `slower`: a factor of the times, for a machine with other work. */
export function tooNoisy({ before, during, failures, grownMiB }: NoiseFigure, slower = 1): readonly string[] {
  const max = slower * Math.max(MAX_P99_MS, MAX_RATIO * before.p99)
  return [
    ...(during.p99 > max ? [`p99 ${during.p99} ms, at most ${max} ms`] : []),
    ...failures.slice(0, 3),
    ...(grownMiB > MAX_GROWN_MIB ? [`the server grew by ${grownMiB} MiB, at most ${MAX_GROWN_MIB}`] : []),
  ]
}

/** Of the documents of each route only the slowest figure, so that the table is short. */
function shown(figures: readonly NoiseFigure[]): readonly NoiseFigure[] {
  const isDocument = ({ form }: NoiseFigure): boolean => form.startsWith(DOCUMENT_FORM)
  const documents = figures.filter(isDocument).toSorted((one, other) => other.during.p99 - one.during.p99)
  const [slowest] = documents
  const others = figures.filter((figure) => !isDocument(figure))
  if (slowest === undefined || documents.length === 1) return figures
  return [{ ...slowest, form: `${slowest.form}, the slowest of ${documents.length} routes` }, ...others]
}

/** The figures as a table of Markdown. */
export const noiseTable = (all: readonly { readonly storage: string; readonly of: readonly NoiseFigure[] }[]): string =>
  [
    '| Storage | Parser, connection or pool | Hostile load | Measured | p50 / p99 before, ms | p50 / p99 during, ms | Memory, MiB | Failures |',
    '|---|---|---|---|---|---|---|---|',
    ...all.flatMap(({ storage, of }) =>
      shown(of).map(
        ({ form, load, probe, before, during, grownMiB, failures }) =>
          `| ${storage} | ${form} | ${load} | ${probe} | ${before.p50} / ${before.p99} | ${during.p50} / ${during.p99} | ${grownMiB < 0 ? '' : '+'}${grownMiB} | ${failures.length} |`,
      ),
    ),
  ].join('\n')
