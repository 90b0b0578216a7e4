import { ServiceError } from '../../model/errors.ts'
import { derivedId, isId } from '../../model/ids.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Table } from '../../ports/table.ts'
import { acceptExecution } from '../executions/accept-execution.ts'
import { acceptResponse, newResponse } from '../turns/accept-response.ts'
import { loadResponse } from '../turns/response-blobs.ts'

interface Ports {
  readonly table: Table
  readonly queue: Queue
  readonly objects: ObjectStore
  readonly clock: Clock
}

interface DeadLetter {
  readonly tenant: string
  /** Of an execution or of a response. */
  readonly id: string
  /** Whether to accept code again that was sent to a sandbox. */
  readonly mayHaveRun: boolean
}

/**
 * Accepts a job that ended as a dead letter again. Returns the new id, which is derived from the old one, so a second call creates no second job.
 * Throws ServiceError `execution_not_found`, `response_not_found`, `conflict`, and what accepting throws.
 */
export async function redriveDeadLetter(ports: Ports, failed: DeadLetter): Promise<string> {
  if (isId('execution', failed.id)) return redriveExecution(ports, failed)
  if (isId('response', failed.id)) return redriveResponse(ports, failed)
  throw new ServiceError(
    'execution_not_found',
    `${JSON.stringify(failed.id.slice(0, 80))} is the id of neither an execution (exec_…) nor a response (resp_…). The list of dead letters has the ids.`,
  )
}

const notDead = (id: string, end: string): ServiceError =>
  new ServiceError('conflict', `${id} is no dead letter: it is ${end}. Only dead letters can be accepted again.`)

async function redriveExecution({ table, queue, clock }: Ports, { tenant, id, mayHaveRun }: DeadLetter): Promise<string> {
  const row = await table.executions.get(tenant, id)
  if (row === null)
    throw new ServiceError('execution_not_found', `The tenant ${tenant} has no execution ${id}. The list of dead letters has the ids.`)
  if (row.reason !== 'dead_letter') throw notDead(id, row.reason === null ? row.status : `${row.status} (${row.reason})`)
  if (row.sandboxId !== null && !mayHaveRun)
    throw new ServiceError(
      'conflict',
      `The code of ${id} was sent to a sandbox, so it may have run, in part or completely. Set may_have_run if a second run does no harm.`,
      { param: 'may_have_run' },
    )
  const { containerId, subject, source, scope, language, timeoutSeconds, onError, storeHistory, metadata, publicUrl } = row
  const { execution } = await acceptExecution(
    { table, queue },
    {
      // The client received the failure, so the turn of the failed job does not continue.
      ...{ tenant, subject, containerId, responseId: null, source, timeoutSeconds, onError, storeHistory, metadata, publicUrl },
      ...(scope !== undefined && { scope }),
      ...(language !== undefined && { language }),
      id: derivedId('execution', row.createdAt, `redrive:${id}`),
    },
    clock.now(),
  )
  return execution.id
}

async function redriveResponse({ table, queue, objects, clock }: Ports, { tenant, id }: DeadLetter): Promise<string> {
  const row = await table.responses.get(tenant, id)
  if (row === null)
    throw new ServiceError('response_not_found', `The tenant ${tenant} has no response ${id}. The list of dead letters has the ids.`)
  if (row.error?.code !== 'dead_letter') throw notDead(id, row.status)
  const { subject, previousResponseId, conversationId, publicUrl } = row
  const { request } = await loadResponse(objects, { ...row, itemsRef: null })
  const again = newResponse({ tenant, subject, request, previousResponseId, conversationId, publicUrl }, clock.now())
  const response = { ...again, id: derivedId('response', row.createdAt, `redrive:${id}`) }
  if ((await table.responses.get(tenant, response.id)) === null) await acceptResponse({ table, queue, objects }, response)
  return response.id
}
