import type { ResponseEvent } from '../../model/events.ts'
import type { ResponseRecord } from '../../model/responses/response.ts'
import type { TurnDeps } from './deps.ts'

const EVENTS_PER_READ = 1_000

type Stream = 'stdout' | 'stderr'

/** What readers of the response already have of a shell call that an earlier step did not complete. */
export class StreamedOutput {
  /** The call itself has been reported as done. */
  isCallDone = false
  readonly #results = new Set<number>()
  readonly #characters = new Map<string, number>()

  hasResult(commandIndex: number): boolean {
    return this.#results.has(commandIndex)
  }

  /** Number of characters of a stream of a command. */
  characters(commandIndex: number, stream: Stream): number {
    return this.#characters.get(`${commandIndex} ${stream}`) ?? 0
  }

  add({ type, data }: ResponseEvent, callIndex: number, outputIndex: number): void {
    if (data['output_index'] === callIndex) this.isCallDone ||= type === 'response.output_item.done'
    const commandIndex = data['command_index']
    if (data['output_index'] !== outputIndex || typeof commandIndex !== 'number') return
    if (type === 'response.shell_call_output_content.done') this.#results.add(commandIndex)
    if (type !== 'response.shell_call_output_content.delta') return
    for (const [stream, text] of Object.entries((data['delta'] ?? {}) as Partial<Record<Stream, string>>)) {
      const key = `${commandIndex} ${stream}`
      this.#characters.set(key, (this.#characters.get(key) ?? 0) + text.length)
    }
  }
}

/** Reads the whole log of the response, with the events that its row still holds. */
export async function readStreamedOutput(
  deps: Pick<TurnDeps, 'table'>,
  row: Pick<ResponseRecord, 'tenant' | 'id' | 'tailEvents'>,
  callIndex: number,
  outputIndex: number,
): Promise<StreamedOutput> {
  const streamed = new StreamedOutput()
  const owner = { kind: 'response', tenant: row.tenant, id: row.id } as const
  let after = -1
  const take = (events: readonly ResponseEvent[]): void => {
    for (const event of events) {
      if (event.seq <= after) continue
      after = event.seq
      streamed.add(event, callIndex, outputIndex)
    }
  }
  for (;;) {
    const page = await deps.table.events.read<ResponseEvent>(owner, after, EVENTS_PER_READ)
    if (page.length === 0) break
    take(page)
  }
  take(row.tailEvents)
  return streamed
}
