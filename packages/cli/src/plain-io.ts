import type { Io } from './io.ts'
import { PlainTextStream } from './plain-text.ts'

/** What user code prints could otherwise set the title of the terminal, write its clipboard or make it answer. */
export function withPlainOutput(io: Io): Io {
  const [out, note] = [new PlainTextStream(), new PlainTextStream()]
  return { ...io, out: (text) => io.out(out.push(text)), note: (text) => io.note(note.push(text)) }
}
