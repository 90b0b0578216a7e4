import { acceptExecution } from '../../../services/operations/executions/accept-execution.ts'
import type { Container } from '../../../services/model/containers/container.ts'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import { newId } from '../../../services/model/ids.ts'
import { ServiceError } from '../../../services/model/errors.ts'
import type { Hold } from '../../../services/operations/tenancy/hold.ts'
import { LIMITS } from '../../../services/model/limits.ts'
import type { Cell } from './cell.ts'
import { TooManyRequestsError } from './simulated-lambda.ts'

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
  const { time, table, queues } = cell
  const tenant = newId('tenant')
  const container = await createContainer(table, { tenant, subject: null, name: 'simulated', memoryTier: '1g' }, time.now())
  const endsAt = time.now() + lifetimeMs
  for (let isFirst = true; time.now() < endsAt; isFirst = false) {
    const id = newId('execution')
    if (isFirst) load.accepted(id)
    void callUntilEnded(cell, container, { id, endsAt, ended: load.ended(id) })
    await time.sleep(Math.min(BETWEEN_EXECUTIONS_MS, endsAt - time.now()))
  }
  const row = await table.containers.markDeleted(tenant, container.id, time.now())
  if (row !== null && row.sandboxId !== null) await queues.send('placements', { v: 1, type: 'sandbox.stop', sandboxId: row.sandboxId }, {})
}

/** Null: the API answers 429. */
export const admitted = (hold: Promise<Hold>): Promise<Hold | null> =>
  hold.catch((error: unknown) => {
    if (error instanceof ServiceError) return null
    throw error
  })

/** Each call holds a function of the API while it waits for the result, and the client calls again until the execution has ended. */
export async function callUntilEnded(
  cell: Cell,
  container: Container,
  { id, endsAt, ended }: { readonly id: string; readonly endsAt: number; readonly ended: Promise<true> },
): Promise<void> {
  const { time, callApi } = cell
  for (let isAccepted = false; time.now() < endsAt;)
    try {
      const hasEnded = await callApi(async ({ holds }) => {
        const hold = await admitted(holds.take(container.tenant, 'wait'))
        if (hold === null) return null
        try {
          if (!isAccepted) await runCode(cell, container, id)
          isAccepted = true
          return await Promise.race([ended, time.sleep(LIMITS.defaultWaitSeconds * 1000).then(() => false)])
        } finally {
          await hold.release()
        }
      })
      if (hasEnded === true) return
      if (hasEnded === null) await time.sleep(CLIENT_RETRY_MS * (1 + cell.random()))
    } catch (error) {
      if (!(error instanceof TooManyRequestsError)) throw error
      await time.sleep(CLIENT_RETRY_MS * (1 + cell.random()))
    }
}

const runCode = ({ table, queues, time }: Cell, { tenant, id: containerId }: Container, id: string) =>
  acceptExecution(
    { table, queue: queues },
    {
      tenant,
      subject: null,
      id,
      containerId,
      responseId: null,
      source: { kind: 'code', code: 'print(42)' },
      timeoutSeconds: 60,
      onError: 'stop',
      storeHistory: true,
      metadata: {},
      publicUrl: 'https://simulated.example',
    },
    time.now(),
  )
