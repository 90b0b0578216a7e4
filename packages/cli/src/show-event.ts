import type { Io } from './io.ts'

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
const textOf = (value: unknown): string => (Array.isArray(value) ? value.join('') : typeof value === 'string' ? value : '')

/** Where events are shown. */
export interface EventSink extends Pick<Io, 'out' | 'note'> {
  /** False: the names of files without their links. */
  readonly hasLinks?: boolean
}

/** Prints one event: output of the code on standard output, information about it on standard error. */
export function showEvent(event: string, data: Fields, io: EventSink): void {
  switch (event) {
    case 'stdout':
      return io.out(textOf(data['text']))
    case 'stderr':
      return io.note(textOf(data['text']))
    case 'output':
      return showOutput(fieldsOf(data['output']), io)
    case 'file': {
      const file = fieldsOf(data['file'] ?? data)
      const link = io.hasLinks === false ? '' : ` ${textOf(file['url'])}`
      return io.note(`file ${textOf(file['path'])} (${String(file['bytes'])} bytes)${link}\n`)
    }
    case 'lost':
      return io.note(`lost ${textOf(data['what'])}: ${textOf(data['reason'])}\n`)
    case 'network':
      return io.note(`network ${String(data['requests'])} requests, ${String(data['refused'])} refused\n`)
    case 'done':
      if (data['status'] !== 'succeeded' && data['reason'] !== 'error') io.note(`${textOf(data['status'])}: ${textOf(data['reason'])}\n`)
  }
}

function showOutput(output: Fields, io: Pick<Io, 'out' | 'note'>): void {
  if (output['output_type'] === 'error') return io.note(`${Array.isArray(output['traceback']) ? output['traceback'].join('\n') : ''}\n`)
  const bundle = fieldsOf(output['data'])
  const plain = textOf(bundle['text/plain'])
  if (plain !== '') io.out(`${plain}\n`)
  const others = Object.keys(bundle).filter((mime) => mime !== 'text/plain')
  if (others.length > 0) io.note(`output ${others.join(', ')}\n`)
}
