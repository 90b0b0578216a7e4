import { acceptExecution } from '../../services/operations/executions/accept-execution.ts'
import { acceptResponse, newResponse } from '../../services/operations/turns/accept-response.ts'
import { ServiceError } from '../../services/model/errors.ts'
import { derivedId, isId } from '../../services/model/ids.ts'
import { readArguments } from './arguments.ts'
import { CommandError, UsageError, type CliDeps, type Command } from './command.ts'
import { NO_OBJECTS } from './rows-only.ts'

export const deadLettersRedrive: Command = {
  usage: 'dead-letters redrive TENANT ID [--may-have-run]',
  summary: 'accept an execution or a response that ended as a dead letter again, under a new id',
  async run(args, deps) {
    const { values, positionals } = readArguments(args, ['TENANT', 'ID'], { 'may-have-run': { type: 'boolean' } })
    const [tenant = '', id = ''] = positionals
    if (isId('execution', id)) deps.out(`${await redriveExecution(deps, tenant, id, values['may-have-run'] === true)}\n`)
    else if (isId('response', id)) deps.out(`${await redriveResponse(deps, tenant, id)}\n`)
    else
      throw new UsageError(`${id} is the id of neither an execution (exec_…) nor a response (resp_…). \`dead-letters list\` shows the ids.`)
    return 0
  },
}

/** The new id, which is derived from the old one, so a second call returns the same. */
async function redriveExecution(deps: CliDeps, tenant: string, id: string, mayHaveRun: boolean): Promise<string> {
  const table = await deps.table()
  const row = await table.executions.get(tenant, id)
  if (row === null)
    throw new CommandError(`The tenant ${tenant} has no execution ${id}. \`dead-letters list\` shows the ids with their tenants.`)
  if (row.reason !== 'dead_letter')
    throw new CommandError(
      `${id} is no dead letter: it is ${row.status}${row.reason === null ? '' : ` (${row.reason})`}. Only dead letters can be accepted again.`,
    )
  if (row.sandboxId !== null && !mayHaveRun)
    throw new CommandError(
      `The code of ${id} was sent to a sandbox, so it may have run, in part or completely. Add --may-have-run if a second run does no harm.`,
    )
  const { containerId, subject, source, timeoutSeconds, onError, storeHistory, metadata, publicUrl } = row
  const { execution } = await accepted(() =>
    acceptExecution(
      { table, queue: deps.queue },
      {
        // The client received the failure, so the turn of the failed job does not continue.
        ...{ tenant, subject, containerId, responseId: null, source, timeoutSeconds, onError, storeHistory, metadata, publicUrl },
        id: derivedId('execution', row.createdAt, `redrive:${id}`),
      },
      deps.clock.now(),
    ),
  )
  return execution.id
}

async function redriveResponse(deps: CliDeps, tenant: string, id: string): Promise<string> {
  const table = await deps.table()
  const row = await table.responses.get(tenant, id)
  if (row === null)
    throw new CommandError(`The tenant ${tenant} has no response ${id}. \`dead-letters list\` shows the ids with their tenants.`)
  if (row.error?.code !== 'dead_letter')
    throw new CommandError(`${id} is no dead letter: it is ${row.status}. Only dead letters can be accepted again.`)
  if (row.requestRef !== null)
    throw new CommandError(`The request of ${id} is too large for its row, so it cannot be read from there. The client must send it again.`)
  const { subject, request, previousResponseId, conversationId, publicUrl } = row
  const again = newResponse({ tenant, subject, request, previousResponseId, conversationId, publicUrl }, deps.clock.now())
  // Derived, so that a second call creates no second turn.
  const response = { ...again, id: derivedId('response', row.createdAt, `redrive:${id}`) }
  if ((await table.responses.get(tenant, response.id)) === null)
    await accepted(() => acceptResponse({ table, queue: deps.queue, objects: NO_OBJECTS }, response))
  return response.id
}

async function accepted<T>(accept: () => Promise<T>): Promise<T> {
  try {
    return await accept()
  } catch (error) {
    throw error instanceof ServiceError ? new CommandError(error.message, { cause: error }) : error
  }
}
