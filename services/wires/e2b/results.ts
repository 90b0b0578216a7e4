import { displayValue } from '../../model/scan-json.ts'
import { REF_MIME, refsOf, type MimeBundle, type Output } from '../../model/executions/outputs.ts'
import type { ApiDeps } from '../../http/deps.ts'
import { CHART_MIME, e2bChart, e2bData, TABLE_MIME, withFloats } from './charts.ts'

/** Fields of a result, by MIME type. Other types are `extra`. */
const FIELDS: Readonly<Record<string, string>> = {
  'text/plain': 'text',
  'text/html': 'html',
  'text/markdown': 'markdown',
  'text/latex': 'latex',
  'image/svg+xml': 'svg',
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'application/pdf': 'pdf',
  'application/json': 'json',
  'application/javascript': 'javascript',
  'e2b/data': 'data',
  'e2b/chart': 'chart',
}
/** Fields that the kernel's own types become. E2B has them in these fields only: its clients read each type in `extra` as a field of the result. */
const OWN: Readonly<Record<string, (value: unknown) => Readonly<Record<string, unknown>>>> = {
  [TABLE_MIME]: (value) => field('data', e2bData(value)),
  [CHART_MIME]: (value) => field('chart', withFloats(e2bChart(value))),
}
const field = (name: string, value: unknown): Readonly<Record<string, unknown>> => (value === undefined ? {} : { [name]: value })
const IS_TEXT = /^(?:text\/|image\/svg\+xml)/
const IS_JSON = /^application\/(?:.*\+)?json$/

/** A line of `/execute` for one output; null for an output that the wire has no line for. */
export async function resultLine(
  deps: Pick<ApiDeps, 'objects' | 'results'>,
  output: Output,
): Promise<Readonly<Record<string, unknown>> | null> {
  if (output.output_type === 'stream') return null
  if (output.output_type === 'error')
    return { type: 'error', name: output.ename, value: output.evalue, traceback: output.traceback.join('\n') }
  const parts = Object.entries(await completeBundle(deps, output.data))
  const known = parts.flatMap(([mime, value]) => (FIELDS[mime] === undefined ? [] : [[FIELDS[mime], shown(mime, value)] as const]))
  const own = parts.map(([mime, value]) => OWN[mime]?.(value) ?? {})
  const extra = Object.fromEntries(parts.filter(([mime]) => FIELDS[mime] === undefined && OWN[mime] === undefined))
  return {
    type: 'result',
    is_main_result: output.output_type === 'execute_result',
    ...Object.assign({}, ...own),
    ...Object.fromEntries(known),
    extra,
  }
}

/** E2B shows a string without the quotes of its representation. */
const shown = (mime: string, value: unknown): unknown =>
  mime === 'text/plain' && typeof value === 'string' && /^'[^]*'$/.test(value) && value.length > 1 ? value.slice(1, -1) : value

/** The bundle with the parts that are stored as objects. Throws ServiceError `too_many_results`. */
async function completeBundle(deps: Pick<ApiDeps, 'objects' | 'results'>, bundle: MimeBundle): Promise<MimeBundle> {
  const refs = refsOf(bundle)
  if (refs.length === 0) return bundle
  const { [REF_MIME]: _, ...complete } = bundle as Record<string, unknown>
  await deps.results.use(
    refs.reduce((sum, { bytes }) => sum + bytes, 0),
    async () => {
      for (const { objectKey, mime } of refs) {
        const chunks: Uint8Array[] = []
        for await (const chunk of (await deps.objects.get(objectKey))?.body ?? []) chunks.push(chunk)
        const bytes = Buffer.concat(chunks)
        complete[mime] = IS_TEXT.test(mime) ? bytes.toString() : IS_JSON.test(mime) ? displayValue(bytes) : bytes.toString('base64')
      }
    },
  )
  return complete
}
