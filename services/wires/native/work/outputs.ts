import { REF_MIME, refsOf, type Output } from '../../../model/executions/outputs.ts'
import type { Presign } from '../../../operations/files/presign.ts'

const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'text/html': 'html',
  'text/plain': 'txt',
  'application/pdf': 'pdf',
  'text/latex': 'tex',
}
/** User code may choose any type, for example `constructor`, so only the table's own entries count. */
export const filenameOf = (mime: string): string =>
  `output.${(Object.hasOwn(EXTENSIONS, mime) ? EXTENSIONS[mime] : undefined) ?? (mime.endsWith('json') ? 'json' : 'bin')}`

/** Outputs as the wire has them: `{objectKey}` becomes `{url}`. Outputs without references are not copied. */
export async function renderOutputs(outputs: readonly Output[], presign: Presign): Promise<readonly unknown[]> {
  return Promise.all(outputs.map((output) => ('data' in output && REF_MIME in output.data ? renderOutput(output, presign) : output)))
}

export async function renderOutput(output: Output, presign: Presign): Promise<unknown> {
  if (!('data' in output)) return output
  const refs = refsOf(output.data)
  if (refs.length === 0) return output
  const urls = await Promise.all(
    refs.map(async (ref) =>
      // A part in the result itself has its URL already.
      'url' in ref ? ref : { url: await presign(ref.objectKey, filenameOf(ref.mime), ref.mime), bytes: ref.bytes, mime: ref.mime },
    ),
  )
  return { ...output, data: { ...output.data, [REF_MIME]: Array.isArray(output.data[REF_MIME]) ? urls : urls[0] } }
}
