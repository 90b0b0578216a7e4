import { acceptExecution } from '../../../services/operations/executions/accept-execution.ts'
import type { Container } from '../../../services/model/containers/container.ts'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import { newId } from '../../../services/model/ids.ts'
import { ServiceError } from '../../../services/model/errors.ts'
import type { Table } from '../../../services/ports/table.ts'
import type { Hold } from '../../../services/operations/tenancy/hold.ts'
import { LIMITS } from '../../../services/model/limits.ts'
import type { Cell, SimulatedApi } from './cell.ts'
import { TooManyRequestsError } from './simulated-lambda.ts'
import { ThrottledError } from './simulated-table.ts'

const BETWEEN_EXECUTIONS_MS = 150_000
/** Pause of a client whose call was refused. */
const CLIENT_RETRY_MS = 1_000

export type Load = ReturnType<typeof watchLoad>

/** Counts from the wide events what the load saw. */
export function watchLoad(cell: Cell, measuredFrom: number) {
  const firsts = new Set<string>()
  const firstMs: number[] = []
  const foundMs: number[] = []
  const executions = { succeeded: 0, sandbox_lost: 0, cancelled: 0, other: 0 }
  const diedAt = new Map<string, number>()
  const waiting = new Map<string, () => void>()
  let isKilling = true
  cell.onEvent = (event) => {
    const now = cell.time.now()
    if (event.event === 'execution') {
      const id = String(event['execution'])
      waiting.get(id)?.()
      waiting.delete(id)
      if (event.outcome === 'succeeded') executions.succeeded += 1
      else if (event['reason'] === 'sandbox_lost') executions.sandbox_lost += 1
      else if (event.outcome === 'cancelled') executions.cancelled += 1
      else executions.other += 1
      if (firsts.delete(id) && now > measuredFrom) firstMs.push(Number(event['total_ms']))
    } else if (event.event === 'sandbox_end' || (event.event === 'sandbox_start' && event.outcome !== 'ready')) {
      // A task may die before the event that it runs was handled: its start has failed then.
      const died = diedAt.get(String(event['sandbox']))
      if (died !== undefined) foundMs.push(now - died)
      diedAt.delete(String(event['sandbox']))
    }
  }
  return {
    firstMs,
    foundMs,
    executions,
    accepted: (id: string) => void firsts.add(id),
    /** Resolves when the execution has ended. */
    ended: (id: string) => new Promise<true>((resolve) => void waiting.set(id, () => resolve(true))),
    killed: (sandboxId: string | null) => {
      if (isKilling && sandboxId !== null) diedAt.set(sandboxId, cell.time.now())
    },
    stopKilling: () => {
      isKilling = false
    },
    notFound: () => diedAt.size,
  }
}

/**
 * A client: creates a container, runs code in it until the end of its lifetime, and deletes it. Each client is another tenant, because the
 * limit on a tenant's concurrent executions would bound the cell.
 */
export async function useContainer(cell: Cell, lifetimeMs: number, load: Load): Promise<void> {
  const { time, queues } = cell
  const endsAt = time.now() + lifetimeMs
  const container = await openContainer(cell, endsAt)
  if (container === null) return
  const { tenant } = container
  for (let isFirst = true; time.now() < endsAt; isFirst = false) {
    const id = newId('execution')
    if (isFirst) load.accepted(id)
    void callUntilEnded(cell, container, { id, endsAt, ended: load.ended(id) })
    await time.sleep(Math.min(BETWEEN_EXECUTIONS_MS, endsAt - time.now()))
  }
  await callUntilAnswered(cell, Number.POSITIVE_INFINITY, async ({ table }) => {
    const row = await table.containers.markDeleted(tenant, container.id, time.now())
    if (row !== null && row.sandboxId !== null)
      await queues.send('placements', { v: 1, type: 'sandbox.stop', sandboxId: row.sandboxId }, {})
    return true
  })
}

/** Creates a container of a new tenant. Null: no call until `endsAt` succeeded. */
export function openContainer(cell: Cell, endsAt: number): Promise<Container | null> {
  const wanted = { tenant: newId('tenant'), subject: null, name: 'simulated', memoryTier: '1g' } as const
  return callUntilAnswered(cell, endsAt, ({ table }) => createContainer(table, wanted, cell.time.now()))
}

/** Null: the API answers 429. */
export const admitted = (hold: Promise<Hold>): Promise<Hold | null> =>
  hold.catch((error: unknown) => {
    if (error instanceof ServiceError) return null
    throw error
  })

/** Lambda refuses the call, or the API answers 500 because the table throttled every attempt. Clients repeat both. */
export const isRefusal = (error: unknown): boolean => error instanceof TooManyRequestsError || error instanceof ThrottledError

/** Calls the API until it answers. Null: no answer until `endsAt`. `work` returns null when the API answers 429. */
async function callUntilAnswered<Answer>(
  { time, random, callApi }: Cell,
  endsAt: number,
  work: (api: SimulatedApi) => Promise<Answer | null>,
): Promise<Answer | null> {
  while (time.now() < endsAt) {
    const answer = await callApi(work).catch((error: unknown) => {
      if (!isRefusal(error)) throw error
      return null
    })
    if (answer !== null) return answer
    await time.sleep(CLIENT_RETRY_MS * (1 + random()))
  }
  return null
}

/** Each call holds a function of the API while it waits for the result, and the client calls again until the execution has ended. */
export async function callUntilEnded(
  cell: Cell,
  container: Container,
  { id, endsAt, ended }: { readonly id: string; readonly endsAt: number; readonly ended: Promise<true> },
): Promise<void> {
  const { time } = cell
  let isAccepted = false
  let hasEnded: boolean | null = false
  while (hasEnded === false)
    hasEnded = await callUntilAnswered(cell, endsAt, async ({ table, holds }) => {
      const hold = await admitted(holds.take(container.tenant, 'wait'))
      if (hold === null) return null
      try {
        if (!isAccepted && !(await runCode(cell, { table, container, id }))) return true
        isAccepted = true
        return await Promise.race([ended, time.sleep(LIMITS.defaultWaitSeconds * 1000).then(() => false)])
      } finally {
        await hold.release()
      }
    })
}

/** False: the container's lifetime has ended meanwhile. */
const runCode = (
  { queues, time }: Cell,
  { table, container, id }: { readonly table: Table; readonly container: Container; readonly id: string },
) =>
  acceptExecution(
    { table, queue: queues },
    {
      tenant: container.tenant,
      subject: null,
      id,
      containerId: container.id,
      responseId: null,
      source: { kind: 'code', code: 'print(42)' },
      timeoutSeconds: 60,
      onError: 'stop',
      storeHistory: true,
      metadata: {},
      publicUrl: 'https://simulated.example',
    },
    time.now(),
  ).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ServiceError && error.code === 'container_not_found') return false
      throw error
    },
  )
