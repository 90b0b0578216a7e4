import type { ExecutionResult } from '../../../model/executions/execution.ts'
import { trimText } from '../../../model/trim-text.ts'
import { REF_MIME, refsOf, type MimeBundle, type Output } from '../../../model/executions/outputs.ts'

/** Remaining size that an answer may embed, bytes. The executions of one answer share it. */
export interface InlineBudget {
  bytes: number
}

/** A part that the answer does not embed. It is stored, and `url` returns it with the caller's key. */
export interface Omitted {
  readonly what: string
  readonly bytes: number
  readonly url: string
}

type OutputsOfResult = Pick<ExecutionResult, 'cells' | 'stdout' | 'stderr' | 'error'>

export interface FittedResult {
  readonly cells: readonly (Omit<ExecutionResult['cells'][number], 'outputs'> & { readonly outputs: readonly Output[] })[]
  readonly stdout: string
  readonly stderr: string
  readonly error: ExecutionResult['error']
  readonly omitted: readonly Omitted[]
}

/** URL of one part of an output, or of the whole execution with all parts embedded. */
export interface OmittedUrls {
  part(cell: number, output: number, mime: string): string
  readonly whole: string
}

/** Length of the preview of a text that is not embedded, characters. */
const PREVIEW_CHARS = 1_000

/** One part of an answer that needs space. */
interface Piece {
  readonly key: string
  readonly what: string
  readonly bytes: number
  readonly isImage: boolean
}

/** The embedded text of a part of a MIME bundle. */
export const textOfPart = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : Array.isArray(value) && value.every((line) => typeof line === 'string')
      ? value.join('')
      : (JSON.stringify(value) ?? '')

const isText = (mime: string): boolean => mime.startsWith('text/') || mime.endsWith('json') || mime === 'image/svg+xml'
const keyOf = (cell: number, output: number, mime = ''): string => `${cell} ${output} ${mime}`

/**
 * The result with as much embedded as the budget allows: images first, then standard output and error, then the rest in order. A part of a
 * bundle that does not fit becomes a reference with its type, size and preview; a text is cut to its head and tail. `omitted` names all of them.
 */
export function fitResult(result: OutputsOfResult, budget: InlineBudget, urls: OmittedUrls): FittedResult {
  const pieces = piecesOf(result)
  const embedded = new Set<string>()
  for (const piece of [...pieces.filter(({ isImage }) => isImage), ...pieces.filter(({ isImage }) => !isImage)]) {
    if (piece.bytes > budget.bytes) continue
    budget.bytes -= piece.bytes
    embedded.add(piece.key)
  }
  const omitted = pieces.filter(({ key }) => !embedded.has(key)).map(({ what, bytes }) => ({ what, bytes, url: urls.whole }))
  if (omitted.length === 0) return { ...result, omitted }
  const cut = (text: string, key: string): string => (embedded.has(key) ? text : trimText(text, PREVIEW_CHARS))
  return {
    cells: result.cells.map((cell, position) => ({
      ...cell,
      outputs: cell.outputs.map((output, index) => {
        const key = keyOf(position, index)
        if (output.output_type === 'stream') return { ...output, text: cut(output.text, key) }
        if (output.output_type === 'error') return embedded.has(key) ? output : { ...output, traceback: [] }
        return {
          ...output,
          data: fitBundle(
            output.data,
            (mime) => embedded.has(keyOf(position, index, mime)),
            (mime) => urls.part(position, index, mime),
          ),
        }
      }),
    })),
    stdout: cut(result.stdout, 'stdout'),
    stderr: cut(result.stderr, 'stderr'),
    error: result.error === null || embedded.has('error') ? result.error : { ...result.error, traceback: [] },
    omitted,
  }
}

/** Order of importance of everything except images. */
function piecesOf(result: OutputsOfResult): readonly Piece[] {
  const pieces: Piece[] = [
    piece({ key: 'stdout', what: 'stdout', text: result.stdout }),
    piece({ key: 'stderr', what: 'stderr', text: result.stderr }),
    piece({ key: 'error', what: 'error.traceback', text: result.error?.traceback.join('\n') ?? '' }),
  ]
  for (const [position, cell] of result.cells.entries())
    for (const [index, output] of cell.outputs.entries()) {
      const what = `cells[${position}].outputs[${index}]`
      const key = keyOf(position, index)
      if (output.output_type === 'stream') pieces.push(piece({ key, what: `${what}.text`, text: output.text }))
      else if (output.output_type === 'error') pieces.push(piece({ key, what: `${what}.traceback`, text: output.traceback.join('\n') }))
      else
        for (const [mime, value] of Object.entries(output.data))
          if (mime !== REF_MIME)
            pieces.push(
              piece({ key: keyOf(position, index, mime), what: `${what}.data[${JSON.stringify(mime)}]`, text: textOfPart(value), mime }),
            )
    }
  return pieces
}

const piece = ({
  key,
  what,
  text,
  mime = '',
}: {
  readonly key: string
  readonly what: string
  readonly text: string
  readonly mime?: string
}): Piece => ({
  key,
  what,
  bytes: Buffer.byteLength(text),
  isImage: mime.startsWith('image/'),
})

/** References keep the form of parts that are stored as objects: one, or a list. */
function fitBundle(bundle: MimeBundle, isEmbedded: (mime: string) => boolean, urlOf: (mime: string) => string): MimeBundle {
  const left = Object.entries(bundle).filter(([mime]) => mime !== REF_MIME && !isEmbedded(mime))
  if (left.length === 0) return bundle
  const refs = left.map(([mime, value]) => {
    const text = textOfPart(value)
    return { url: urlOf(mime), bytes: Buffer.byteLength(text), mime, preview: isText(mime) ? text.slice(0, PREVIEW_CHARS) : null }
  })
  const kept = Object.fromEntries(Object.entries(bundle).filter(([mime]) => mime !== REF_MIME && isEmbedded(mime)))
  const all = [...refsOf(bundle), ...refs]
  return { ...kept, [REF_MIME]: all.length === 1 ? all[0] : all }
}
