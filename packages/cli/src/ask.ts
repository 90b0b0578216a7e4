import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { Io } from './io.ts'

/** Asks a person for a line in the terminal; a hidden answer is not echoed. */
export async function ask(io: Pick<Io, 'note' | 'stdin' | 'signal'>, question: string, isHidden = false): Promise<string> {
  io.note(question)
  const output = isHidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stderr
  const lines = createInterface({ input: io.stdin, output, terminal: true })
  // The terminal gives Ctrl-C to the reader of lines.
  const interrupted = new Promise<never>((_, reject) => lines.once('SIGINT', () => reject(new InterruptedError())))
  try {
    return (await Promise.race([lines.question('', { signal: io.signal }), interrupted])).trim()
  } finally {
    lines.close()
    if (isHidden) io.note('\n')
  }
}

/** Ctrl-C at a question. */
export class InterruptedError extends Error {}
