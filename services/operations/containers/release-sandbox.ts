import { setTimeout as delay } from 'node:timers/promises'
import { commandsOf, isSaved, isSuspended, jobsIn, type Container } from '../../model/containers/container.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Table } from '../../ports/table.ts'

export interface ReleasePorts {
  readonly table: Pick<Table, 'containers'>
  readonly queue: Queue
  readonly clock: Clock
}

const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 50

/**
 * Hibernates or suspends a container now, and waits until its row says so. Returns the row; null when it was deleted. `busy`: it was in use until the time was over
 * or the caller left, and its sandbox runs on. `isForCopy`: only stores what it has, for copies; where its processes cannot be kept, its sandbox runs on.
 * `keepsProcesses`: it is suspended, and commands do not keep it in use, because they are suspended with it. Without it and `isForCopy` it hibernates.
 */
export async function releaseSandbox(
  { table, queue, clock }: ReleasePorts,
  { tenant, id }: Pick<Container, 'tenant' | 'id'>,
  {
    timeoutMs,
    signal,
    isForCopy = false,
    keepsProcesses = false,
  }: {
    readonly timeoutMs: number
    readonly signal: AbortSignal
    readonly isForCopy?: boolean
    readonly keepsProcesses?: boolean
  },
): Promise<Container | null | 'busy'> {
  const deadline = clock.now() + timeoutMs
  let asked: string | null = null
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const row = await table.containers.get(tenant, id)
    if (row === null || row.deletedAt !== null) return null
    const isUsed = keepsProcesses ? row.queue.length > 0 : jobsIn(row).size > 0
    if (row.sandboxId === null || isSuspended(row) || (isForCopy && isSaved(row) && !isUsed)) return row
    // The worker releases the sandbox only of a container that was last used when the message says. It ends commands that it cannot keep.
    const present = [row.lastActiveAt, ...commandsOf(row)].join(' ')
    if (!isUsed && asked !== present) {
      asked = present
      const message = {
        v: 1,
        type: 'container.hibernate',
        tenant,
        containerId: id,
        idleSince: row.lastActiveAt,
        ...(isForCopy && { isForCopy }),
        ...(!keepsProcesses && !isForCopy && { endsProcesses: true }),
      } as const
      await queue.send('executions', message, { group: tenant })
    }
    if (clock.now() >= deadline || signal.aborted) return 'busy'
    await delay(pause)
  }
}
