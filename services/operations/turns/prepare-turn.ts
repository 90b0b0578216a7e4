import { conversationOf, responseOf, containerOf } from '../access.ts'
import { InlineBundles, resolveSkills } from '../skills/resolve-skills.ts'
import { ServiceError } from '../../model/errors.ts'
import type { ResponseRecord, ResponseRequest, InterpreterRequest } from '../../model/responses/response.ts'
import { newResponse } from './accept-response.ts'
import { checkItems, checkTextFormat, checkTools } from './check-input.ts'
import { checkOutputs } from './check-outputs.ts'
import { refusePrivateImages } from './image-urls.ts'
import { findAttached, nameAttached, resolveReferences } from './input-references.ts'
import type { TurnPorts, TurnRequest, WantedContainer } from './turn-request.ts'
import { isEmptyPolicy } from '../../model/network/policy.ts'
import type { Caller } from '../../model/tenants/tenant.ts'
import { checkNetwork, defaultPolicy, storeSecrets } from '../network/new-policy.ts'
import { findFile } from '../files/find-file.ts'
import { checkMemory } from '../tenancy/check-limits.ts'

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

/** Resolves the container that both tools share. The caller must have access to it and to its files. Null when nothing runs here. */
async function findInterpreter(ports: TurnPorts, turn: TurnRequest, inline: InlineBundles): Promise<InterpreterRequest | null> {
  const interpreter = turn.interpreter && (await resolve(ports, turn, { wanted: turn.interpreter, inline }))
  const shell = turn.shell && { ...(await resolve(ports, turn, { wanted: turn.shell, inline })), isShellOnly: true }
  if (interpreter === null || shell === null) return interpreter ?? shell
  const fileIds = [...new Set([...interpreter.fileIds, ...shell.fileIds])]
  const both = { ...interpreter, fileIds, ...(shell.skills && { skills: shell.skills }), ...(shell.network && { network: shell.network }) }
  if (shell.containerId === null || shell.containerId === interpreter.containerId) return both
  if (interpreter.containerId === null) return { ...both, containerId: shell.containerId, memoryTier: shell.memoryTier }
  throw new ServiceError('invalid_request', 'The tools shell and code_interpreter name two containers. Name the same one in both.', {
    param: 'tools',
  })
}

async function resolve(
  deps: TurnPorts,
  { caller, claimed: { id: responseId } }: TurnRequest,
  { wanted, inline }: { readonly wanted: WantedContainer; readonly inline: InlineBundles },
): Promise<InterpreterRequest> {
  const reader = { deps, caller }
  if (wanted.kind === 'named') {
    const { id, memoryTier } = await containerOf(reader, wanted.containerId, { scope: 'run', param: wanted.param })
    return { containerId: id, memoryTier, fileIds: [] }
  }
  const { memoryTier, param } = wanted
  await checkMemory(deps, caller.tenant, { tier: memoryTier, param: `${param}.memory_limit` })
  const fileIds = [...new Set(wanted.fileIds)]
  await Promise.all(fileIds.map((id) => findFile(reader, id, { scope: 'run', param: `${param}.file_ids` })))
  const skills = await resolveSkills(reader, wanted.skills, { param: `${param}.skills`, inline })
  const network = await stageNetwork(deps, { caller, responseId }, wanted)
  return { containerId: null, memoryTier, fileIds, ...(skills.length > 0 && { skills }), ...network }
}

/** A response lasts at most half an hour and waits in a queue before. */
const STAGED_MS = 86_400_000

/** Checks the policy of the request. Its secrets are stored for the response, because the row of the response is read back. */
async function stageNetwork(
  deps: TurnPorts,
  { caller, responseId }: { readonly caller: Caller; readonly responseId: string },
  { network: wanted, param }: Extract<WantedContainer, { kind: 'auto' }>,
): Promise<Pick<InterpreterRequest, 'network' | 'defaultNetwork'>> {
  if (wanted === undefined) {
    const policy = await defaultPolicy(deps, caller.tenant)
    return isEmptyPolicy(policy) ? {} : { defaultNetwork: policy }
  }
  await checkNetwork(deps, caller, { wanted, param: `${param}.network_policy` })
  const { tenant, subject } = caller
  await storeSecrets(deps, { tenant, subject, owner: responseId, expiresAt: deps.clock.now() + STAGED_MS }, wanted.secrets)
  return { network: wanted.policy }
}
