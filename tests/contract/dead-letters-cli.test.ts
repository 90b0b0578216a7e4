import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CommandError, UsageError, type CliDeps } from '../../scripts/cli/command.ts'
import { deadLettersList } from '../../scripts/cli/dead-letters-list.ts'
import { deadLettersRedrive } from '../../scripts/cli/dead-letters-redrive.ts'
import { acceptExecution } from '../../services/operations/executions/accept-execution.ts'
import { createContainer } from '../../services/operations/containers/create-container.ts'
import type { Execution } from '../../services/model/executions/execution.ts'
import { newId } from '../../services/model/ids.ts'
import { systemClock } from '../../services/ports/clock.ts'
import { executionRow, responseRequest, responseRow } from '../support/rows.ts'
import { startStorage, type Storage } from '../support/start-storage.ts'

let storage: Storage
beforeAll(async () => void (storage = await startStorage()))
afterAll(() => storage.stop())

const TENANT = newId('tenant')
const LEASE = { owner: 'test', now: 0, expiresAt: 1 }

function deps(): CliDeps & { readonly said: () => string } {
  let said = ''
  const never = (): never => {
    throw new Error('not asked for')
  }
  return {
    table: async () => storage.table,
    tenants: async () => storage.table.tenants,
    backUp: never,
    queue: storage.queue,
    clock: systemClock,
    folder: '/',
    programCommands: [],
    out: (text) => void (said += text),
    note: (text) => void (said += text),
    said: () => said,
  }
}
const call = async (command: typeof deadLettersList, ...args: string[]): Promise<string> => {
  const own = deps()
  await command.run(args, own)
  return own.said().trim()
}
const redrive = (id: string, ...more: string[]) => call(deadLettersRedrive, TENANT, id, ...more)

/** An execution in a new container with this end. */
async function ended(change: Partial<Execution>): Promise<Execution> {
  const container = await createContainer(storage.table, { tenant: TENANT, subject: null, name: 'x', memoryTier: '1g' }, systemClock.now())
  const wanted = executionRow({ tenant: TENANT, containerId: container.id, source: { kind: 'code', code: 'print("again")' } })
  const { execution } = await acceptExecution(storage, wanted, systemClock.now())
  const acquired = await storage.table.executions.acquireLease(TENANT, execution.id, LEASE)
  if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
  const row = await storage.table.executions.commit(TENANT, execution.id, acquired.row.fence, {
    status: 'failed',
    endedAt: systemClock.now(),
    ...change,
  })
  if (row === null) throw new Error('lost')
  return row
}

describe('the dead-letters command', () => {
  it('lists only dead letters and whether each may have run', async () => {
    const [dead, handed] = [await ended({ reason: 'dead_letter' }), await ended({ reason: 'dead_letter', sandboxId: newId('sandbox') })]
    await ended({ reason: 'error' })
    const rows = JSON.parse(await call(deadLettersList, '--tenant', TENANT, '--json')) as { execution: string; may_have_run: string }[]
    expect(rows.map(({ execution, may_have_run }) => [execution, may_have_run]).toSorted()).toEqual(
      [
        [dead.id, 'no'],
        [handed.id, 'yes'],
      ].toSorted(),
    )
    expect(await call(deadLettersList, '--tenant', newId('tenant'))).toBe('There is no dead letter.')
  })

  it('retries one once under a new id in the same container', async () => {
    const dead = await ended({ reason: 'dead_letter', responseId: newId('response') })
    const id = await redrive(dead.id)
    expect(await redrive(dead.id)).toBe(id)
    const again = await storage.table.executions.get(TENANT, id)
    expect(again).toMatchObject({ status: 'queued', containerId: dead.containerId, source: dead.source, responseId: null })
    // The old one is still queued, as after a crash. It precedes the new one, and no position is used twice.
    const container = await storage.table.containers.get(TENANT, dead.containerId)
    expect(container?.queue.filter((queued) => queued === id)).toHaveLength(1)
  })

  it('does not retry code that may have run unless a flag allows it', async () => {
    const handed = await ended({ reason: 'dead_letter', sandboxId: newId('sandbox') })
    await expect(redrive(handed.id)).rejects.toThrow(/may have run.*--may-have-run/)
    expect(await redrive(handed.id, '--may-have-run')).toMatch(/^exec_/)
  })

  it('refuses ids that are no dead letter, do not exist or are no job', async () => {
    const failed = await ended({ reason: 'error' })
    await expect(redrive(failed.id)).rejects.toThrow(
      new CommandError(`${failed.id} is no dead letter: it is failed (error). Only dead letters can be accepted again.`),
    )
    await expect(redrive(newId('execution'))).rejects.toThrow(CommandError)
    await expect(redrive('cntr_1')).rejects.toThrow(UsageError)
    await expect(call(deadLettersRedrive, newId('tenant'), failed.id)).rejects.toThrow(/has no execution/)
  })

  it('retries a turn once', async () => {
    const error = { code: 'dead_letter', message: 'x' }
    const dead = responseRow({ tenant: TENANT, status: 'failed', error, request: responseRequest({ input: 'ask again' }) })
    await storage.table.responses.create(dead)
    const id = await redrive(dead.id)
    expect(await redrive(dead.id)).toBe(id)
    expect(await storage.table.responses.get(TENANT, id)).toMatchObject({
      status: 'queued',
      request: { input: 'ask again' },
      items: [],
      error: null,
    })
    const fine = responseRow({ tenant: TENANT, status: 'completed' })
    await storage.table.responses.create(fine)
    await expect(redrive(fine.id)).rejects.toThrow(/is no dead letter/)
  })
})
