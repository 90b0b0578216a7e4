import type { ByteStream } from '../../model/byte-stream.ts'
import { LinkError } from '../../ports/sandbox-link.ts'
import { SupervisorError, type SupervisorEvent } from '../../ports/supervisor.ts'
import { toEvent } from './events.ts'
import { parseHostileJson } from './hostile-json.ts'
import { readLines, type LineCaps } from './lines.ts'
import { OutputBudget } from './output-budget.ts'

/** A line has at most one MIME bundle or the envelope; the stream has what a supervisor keeps of one execution, plus a margin. */
const CAPS: LineCaps = { maxLineBytes: 32 * 1024 * 1024, maxTotalBytes: 128 * 1024 * 1024 }

/** After `done` the client waits this long for the end of the answer, milliseconds. */
const END_MS = 100

/**
 * The events after number `after`, ending with `done`: typed, bounded and counted, so that no consumer has to check them again. Numbers only
 * grow, so no event is counted twice. Throws SupervisorError
 * `protocol` for a stream that breaks the rules and LinkError `broken` for one that ends before `done`.
 */
export async function* readEvents(body: ByteStream, after: number, caps: LineCaps = CAPS): AsyncGenerator<SupervisorEvent> {
  const lines = readLines(body, caps)
  const budget = new OutputBudget()
  let last = after
  let isDone = false
  try {
    for (let line = await lines.next(); !line.done; line = await lines.next()) {
      const event = toEvent(parseHostileJson(line.value))
      if (event.seq <= last) throw new SupervisorError('protocol', `The sandbox sent event ${event.seq} after event ${last}.`)
      budget.missed(event.seq - last - 1)
      last = event.seq
      isDone = event.type === 'done'
      const admitted = budget.admit(event, line.value.length)
      if (admitted !== null) yield admitted
      if (isDone) return
    }
  } finally {
    if (isDone) await untilEnd(lines)
    else await lines.return(undefined)
  }
  throw new LinkError('broken', `The events of the sandbox ended after number ${last}, before "done".`)
}

/** Reads the answer to its end, so that the next request can use the connection. */
async function untilEnd(lines: AsyncGenerator<Buffer>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, END_MS)
  lines
    .next()
    .then((next) => (next.done ? undefined : lines.return(undefined)))
    .then(
      () => resolve(),
      () => resolve(),
    )
  await promise
  clearTimeout(timer)
}
