import type { Io } from './io.ts'
import { PlainTextStream } from './plain-text.ts'

/** Without this filter, output of user code could set the terminal's title, write its clipboard or make it send input. */
export function withPlainOutput(io: Io): Io {
  const [out, note] = [new PlainTextStream(), new PlainTextStream()]
  return { ...io, out: (text) => io.out(out.push(text)), note: (text) => io.note(note.push(text)) }
}
