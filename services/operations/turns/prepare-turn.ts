import { conversationOf, responseOf } from '../access.ts'
import { InlineBundles } from '../skills/resolve-skills.ts'
import { ServiceError } from '../../model/errors.ts'
import type { ResponseRecord, ResponseRequest } from '../../model/responses/response.ts'
import { newResponse } from './accept-response.ts'
import { checkItems, checkTextFormat, checkTools } from './check-input.ts'
import { checkOutputs } from './check-outputs.ts'
import { findInterpreter } from './find-interpreter.ts'
import { refusePrivateImages } from './image-urls.ts'
import { findAttached, nameAttached, resolveReferences } from './input-references.ts'
import type { TurnPorts, TurnRequest } from './turn-request.ts'

export interface PreparedTurn {
  readonly row: ResponseRecord
  /** The row exists already: an earlier call created it. */
  readonly isReplay: boolean
}

/** The response that the turn becomes, with all referenced objects. It is not written yet, unless an earlier call created it. Throws ServiceError. */
export async function prepareTurn(ports: TurnPorts, turn: TurnRequest): Promise<PreparedTurn> {
  const { caller, claimed, publicUrl, previousResponseId, conversationId } = turn
  const { tenant, subject } = caller
  const earlier = claimed.isReplay ? await ports.table.responses.get(tenant, claimed.id) : null
  if (earlier !== null) return { row: earlier, isReplay: true }
  await ports.budget.checkModel(tenant)
  const inline = new InlineBundles({ deps: ports, caller }, claimed.id)
  const request = await resolveRequest(ports, turn, inline).catch(async (error: unknown) => {
    await inline.discard()
    throw error
  })
  const wanted = { id: claimed.id, tenant, subject, request, previousResponseId, conversationId, publicUrl }
  return { row: newResponse(wanted, ports.clock.now()), isReplay: false }
}

/** Skills that the request contains are kept in `inline`. */
async function resolveRequest(ports: TurnPorts, turn: TurnRequest, inline: InlineBundles): Promise<ResponseRequest> {
  const { request, conversationId, previousResponseId } = turn
  checkRequest(ports, turn)
  const [attached, input, , interpreter] = await allInOrder([
    findAttached(ports, turn),
    resolveReferences(ports, turn),
    checkTools(ports, turn),
    findInterpreter(ports, turn, inline),
    conversationId === null
      ? null
      : conversationOf({ deps: ports, caller: turn.caller }, conversationId, { scope: 'run', param: 'conversation' }),
    previousResponseId === null ? null : previousOf(ports, turn, previousResponseId),
  ])
  await checkOutputs(ports, turn, input)
  return {
    ...request,
    input: nameAttached(input, attached),
    interpreter: interpreter === null ? null : { ...interpreter, fileIds: [...new Set([...interpreter.fileIds, ...attached.keys()])] },
  }
}

/** What follows from the request alone. */
function checkRequest({ models }: TurnPorts, { request, conversationId, previousResponseId }: TurnRequest): void {
  if (!models.has(request.model)) throw modelMissing(request.model, models.list())
  if (conversationId !== null && previousResponseId !== null)
    throw new ServiceError(
      'invalid_request',
      'conversation and previous_response_id were both given, and each names a history. Send one of them.',
      { param: 'conversation' },
    )
  if (request.background && !request.store)
    throw new ServiceError('invalid_request', 'A background response is read later, so it must be stored. Omit store.', {
      param: 'store',
    })
  if (typeof request.input !== 'string') refusePrivateImages(request.input, 'input')
  checkItems(request)
  checkTextFormat(request)
}

export const modelMissing = (name: string, models: readonly { readonly id: string }[]): ServiceError =>
  new ServiceError(
    'model_not_found',
    `No model ${JSON.stringify(name.slice(0, 80))} is configured. Available: ${models.map((model) => model.id).join(', ') || 'none'}.`,
    { param: 'model' },
  )

/**
 * The response that a turn continues. Throws ServiceError `previous_response_not_found`: clients recover from this code and send the whole input
 * instead.
 */
export async function previousOf(
  { table }: Pick<TurnPorts, 'table'>,
  { caller, ownsUnstored }: Pick<TurnRequest, 'caller' | 'ownsUnstored'>,
  id: string,
): Promise<ResponseRecord> {
  return responseOf({ deps: { table }, caller, ...(ownsUnstored && { ownsUnstored }) }, id, {
    scope: 'run',
    param: 'previous_response_id',
  }).catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error
    throw new ServiceError('previous_response_not_found', `Previous response with id ${JSON.stringify(id.slice(0, 80))} not found.`, {
      param: 'previous_response_id',
      cause: error,
    })
  })
}

/** Runs all checks at once; of several errors the first in this order counts. */
async function allInOrder<const Checks extends readonly unknown[]>(
  checks: Checks,
): Promise<{ -readonly [Index in keyof Checks]: Awaited<Checks[Index]> }> {
  const settled = await Promise.allSettled(checks)
  for (const outcome of settled) if (outcome.status === 'rejected') throw outcome.reason
  return Promise.all(checks)
}
