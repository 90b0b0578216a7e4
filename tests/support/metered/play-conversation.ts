import type { Items } from '../../../services/adapters/storage/rows/items.ts'
import type { VirtualTime } from '../../../scripts/operate/simulate/virtual-time.ts'
import { startMeteredDeployment, type Billed } from './metered-deployment.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
/** Longer than an idle container is held after pauses of a minute. */
const UNTIL_HIBERNATED = 4 * MINUTE

/** Counts by kind: `writes`, `reads`, `puts`, `gets`, `messages`. */
export type Counts = Readonly<Record<'writes' | 'reads' | 'puts' | 'gets' | 'messages', number>>

export interface PlayedConversation {
  readonly statuses: readonly string[]
  /** A turn on a container that has a sandbox, and the minute after it. */
  readonly perTurn: Counts
  /** The start of the sandbox with the first turn, and the hibernation after the last one. */
  readonly perStart: Counts
  readonly errors: readonly unknown[]
}

/** Plays turns with one execution each, a minute apart, and waits until the container hibernates. */
export async function playConversation(
  options: { readonly time: VirtualTime; readonly rows: Items; readonly modelSeconds: number; readonly runSeconds: number },
  turns: number,
): Promise<PlayedConversation> {
  const { time } = options
  const { billed, errors, reconcile, post } = await startMeteredDeployment(options)
  void reconcile()
  await time.runUntil(time.now() + SECOND)
  // What a pass reads without a container is no part of a turn.
  const idlePass = billed.reads
  billed.reads = 0
  let nextPass = time.now() + MINUTE
  const wait = async (ms: number): Promise<void> => {
    for (const end = time.now() + ms; time.now() < end;) {
      await time.runUntil(Math.min(end, time.now() + SECOND / 10))
      if (time.now() < nextPass) continue
      nextPass += MINUTE
      billed.reads -= idlePass
      void reconcile()
    }
  }
  const statuses: string[] = []
  const counted: Counts[] = []
  let before = countsOf(billed)
  for (let turn = 0, previous: string | undefined; turn < turns; turn++) {
    let answer: { readonly id: string; readonly status: string } | undefined
    void post('/v1/responses', requestOf(previous)).then(async (answered) => (answer = (await answered.json()) as typeof answer))
    for (const end = time.now() + 5 * MINUTE; answer === undefined && time.now() < end;) await wait(SECOND / 10)
    await wait(turn + 1 < turns ? MINUTE : UNTIL_HIBERNATED)
    previous = answer?.id
    statuses.push(answer?.status ?? 'no answer')
    const now = countsOf(billed)
    counted.push(less(now, before))
    before = now
  }
  const middle = counted.slice(1, -1)
  const perTurn = mean(middle)
  const [first, last] = [counted[0], counted.at(-1)]
  if (first === undefined || last === undefined) throw new Error('A conversation has at least three turns.')
  return { statuses, perTurn, perStart: less(sum([first, last]), sum([perTurn, perTurn])), errors }
}

const requestOf = (previous: string | undefined): object => ({
  model: 'demo',
  input: '```python\nprint(42)\n```',
  tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
  ...(previous !== undefined && { previous_response_id: previous }),
})

const countsOf = ({ writes, reads, puts, gets, messages }: Billed): Counts => ({
  writes,
  reads,
  puts,
  gets,
  messages: Object.values(messages).reduce((all, count) => all + count, 0),
})

const combine = (counts: readonly Counts[], value: (values: readonly number[]) => number): Counts => {
  const of = (name: keyof Counts): number => value(counts.map((each) => each[name]))
  return { writes: of('writes'), reads: of('reads'), puts: of('puts'), gets: of('gets'), messages: of('messages') }
}
const sum = (counts: readonly Counts[]): Counts => combine(counts, (values) => values.reduce((all, each) => all + each, 0))
const less = (from: Counts, counts: Counts): Counts => combine([from, counts], ([all = 0, part = 0]) => all - part)
const mean = (counts: readonly Counts[]): Counts => combine([sum(counts)], ([all = 0]) => all / counts.length)
