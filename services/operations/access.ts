import type { Container } from '../model/containers/container.ts'
import type { Conversation } from '../model/conversations/conversation.ts'
import { ServiceError, type ErrorCode } from '../model/errors.ts'
import type { Execution } from '../model/executions/execution.ts'
import { workKindOfId, type WorkKindName } from '../model/executions/work-kinds.ts'
import type { ContainerFile } from '../model/files/file.ts'
import { isId } from '../model/ids.ts'
import type { ResponseRecord as ResponseRow } from '../model/responses/response.ts'
import type { Skill } from '../model/skills/skill.ts'
import type { Caller, Scope } from '../model/tenants/tenant.ts'
import type { Upload } from '../model/files/upload.ts'
import { hasExpired, type UserFile } from '../model/files/user-file.ts'
import { readEndpoints } from './webhooks/endpoints.ts'
import type { WebhookEndpoint } from '../model/webhooks/webhook.ts'
import type { Table } from '../ports/table.ts'
import type { Clock } from '../ports/clock.ts'

type Reader<Store extends keyof Table> = { readonly deps: { readonly table: Pick<Table, Store> }; readonly caller: Caller }
type ResponseReader = Reader<'responses'> & {
  readonly ownsUnstored?: (responseId: string) => boolean
}
type UserFileReader = Reader<'userFiles'> & { readonly deps: { readonly clock: Clock } }

/** The scope that the caller needs for what it does with the object; with the request's field that names the object, for the error. */
type Need = Scope | { readonly scope: Scope; readonly param: string }

/** Throws ServiceError `insufficient_scope`. */
export function requireScope(caller: Pick<Caller, 'scopes'>, scope: Scope): void {
  if (caller.scopes.includes(scope)) return
  throw new ServiceError(
    'insufficient_scope',
    `This API key lacks the scope "${scope}"; it has ${caller.scopes.join(', ') || 'none'}. Use a key with that scope, or ask the operator for one.`,
  )
}

/** Checks the scope, before anything is read, and returns the field. */
function check(caller: Caller, need: Need): string | undefined {
  requireScope(caller, typeof need === 'string' ? need : need.scope)
  return typeof need === 'string' ? undefined : need.param
}

const missing = ({
  code,
  what,
  id,
  advice,
  param,
}: {
  readonly code: ErrorCode
  readonly what: string
  readonly id: string
  readonly advice: string
  readonly param?: string | undefined
}): ServiceError =>
  new ServiceError(code, `No ${what} ${JSON.stringify(id.slice(0, 80))} exists. ${advice}`, param === undefined ? {} : { param })

/** A key that is bound to an end user sees that user's rows only. */
export const isVisible = (row: { readonly subject: string | null }, caller: Pick<Caller, 'subject'>): boolean =>
  caller.subject === null || row.subject === caller.subject

/** Which rows of a list the caller may see. Throws ServiceError `insufficient_scope`. */
export function visibleTo(caller: Caller, scope: Scope): <Row extends { readonly subject: string | null }>(row: Row) => boolean {
  requireScope(caller, scope)
  return (row) => isVisible(row, caller)
}

/**
 * Checks the container as `containerOf` does, but without a read for a key that sees the whole tenant: then it checks only the form of the id, and
 * the acceptance finds out whether the container exists.
 */
export async function checkContainer(reader: Reader<'containers'>, id: string, scope: Scope): Promise<void> {
  requireScope(reader.caller, scope)
  if (reader.caller.subject !== null) await containerOf(reader, id, scope)
  else if (!isId('container', id)) throw containerMissing(id)
}

export const containerMissing = (id: string, param?: string): ServiceError =>
  missing({ code: 'container_not_found', what: 'container', id, advice: 'Create one with POST /v1/containers.', param })

/** A container of another tenant, a deleted one and one that never existed get the same answer: ServiceError `container_not_found`. */
export async function containerOf({ deps, caller }: Reader<'containers'>, id: string, need: Need): Promise<Container> {
  const param = check(caller, need)
  const row = isId('container', id) ? await deps.table.containers.get(caller.tenant, id) : null
  if (row === null || row.deletedAt !== null || !isVisible(row, caller)) throw containerMissing(id, param)
  return row
}

/** A named snapshot of a container; it is a row of the same store. Throws ServiceError `snapshot_not_found`. */
export async function snapshotOf({ deps, caller }: Reader<'containers'>, id: string, scope: Scope): Promise<Container> {
  requireScope(caller, scope)
  const row = isId('snapshot', id) ? await deps.table.containers.get(caller.tenant, id) : null
  if (row === null || row.deletedAt !== null || !isVisible(row, caller)) {
    const advice = 'Make one with POST /v1/containers/{container_id}/snapshots.'
    throw missing({ code: 'snapshot_not_found', what: 'snapshot', id, advice })
  }
  return row
}

const WORK_ADVICE: Readonly<Record<WorkKindName, string>> = {
  execution: 'Run code with POST /v1/containers/{container_id}/executions.',
  command: 'Run one with POST /v1/containers/{container_id}/commands.',
}

/** The row of an execution or a command. Throws ServiceError `execution_not_found` or `command_not_found`. */
export async function workRowOf(
  { deps, caller }: Reader<'executions'>,
  { kind, id }: { readonly kind: WorkKindName; readonly id: string },
  scope: Scope,
): Promise<Execution> {
  requireScope(caller, scope)
  const row = isId(kind, id) ? await deps.table.executions.get(caller.tenant, id) : null
  if (row === null || !isVisible(row, caller)) throw missing({ code: `${kind}_not_found`, what: kind, id, advice: WORK_ADVICE[kind] })
  return row
}
export const executionOf = (reader: Reader<'executions'>, id: string, scope: Scope): Promise<Execution> =>
  workRowOf(reader, { kind: 'execution', id }, scope)
/** An execution or a command, by the form of the id. */
export const jobOf = (reader: Reader<'executions'>, id: string, scope: Scope): Promise<Execution> =>
  workRowOf(reader, { kind: workKindOfId(id).name, id }, scope)

/** Responses with `store: false` cannot be read later, except on the connection that made them. */
export async function responseOf({ deps, caller, ownsUnstored }: ResponseReader, id: string, need: Need): Promise<ResponseRow> {
  const param = check(caller, need)
  const row = isId('response', id) ? await deps.table.responses.get(caller.tenant, id) : null
  const isReadable = row !== null && (row.request.store || ownsUnstored?.(id) === true)
  if (!isReadable || !isVisible(row, caller))
    throw missing({
      code: 'response_not_found',
      what: 'response',
      id,
      advice: 'Make one with POST /v1/responses, and do not send "store": false if you want it again.',
      param,
    })
  return row
}

export async function conversationOf({ deps, caller }: Reader<'conversations'>, id: string, need: Need): Promise<Conversation> {
  const param = check(caller, need)
  const row = isId('conversation', id) ? await deps.table.conversations.get(caller.tenant, id) : null
  if (row === null || row.deletedAt !== null || !isVisible(row, caller))
    throw missing({ code: 'conversation_not_found', what: 'conversation', id, advice: 'Create one with POST /v1/conversations.', param })
  return row
}

export const fileMissing = (id: string, param?: string): ServiceError =>
  missing({
    code: 'file_not_found',
    what: 'file',
    id,
    advice: "List a container's files with GET /v1/containers/{container_id}/files.",
    param,
  })

/** A file version of a container that the caller may see; superseded versions keep their ids. */
export async function fileOf(
  { deps, caller }: Reader<'files'>,
  { containerId, id }: { readonly containerId: string; readonly id: string },
  scope: Scope,
): Promise<ContainerFile> {
  requireScope(caller, scope)
  const row = isId('containerFile', id) ? await deps.table.files.get(caller.tenant, containerId, id) : null
  if (row === null || row.state !== 'stored') throw fileMissing(id)
  return row
}

/** A file of `/v1/files`. One that has expired does not exist any more. */
export async function userFileOf({ deps, caller }: UserFileReader, id: string, need: Need): Promise<UserFile> {
  const param = check(caller, need)
  const row = isId('file', id) ? await deps.table.userFiles.get(caller.tenant, id) : null
  if (row === null || hasExpired(row, deps.clock.now()) || !isVisible(row, caller))
    throw missing({ code: 'file_not_found', what: 'file', id, advice: 'Upload one with POST /v1/files.', param })
  return row
}

export async function uploadOf({ deps, caller }: Reader<'uploads'>, id: string, scope: Scope): Promise<Upload> {
  requireScope(caller, scope)
  const row = isId('upload', id) ? await deps.table.uploads.get(caller.tenant, id) : null
  if (row === null || !isVisible(row, caller))
    throw missing({ code: 'upload_not_found', what: 'upload', id, advice: 'Create one with POST /v1/uploads.' })
  return row
}

/** A skill of another tenant or end user, a deleted one and one that never existed get the same answer: ServiceError `skill_not_found`. */
export async function skillOf({ deps, caller }: Reader<'skills'>, id: string, need: Need): Promise<Skill> {
  const param = check(caller, need)
  const row = isId('skill', id) ? await deps.table.skills.get(caller.tenant, id) : null
  if (row === null || !isVisible(row, caller))
    throw missing({ code: 'skill_not_found', what: 'skill', id, advice: 'Create one with POST /v1/skills.', param })
  return row
}

/** An endpoint of another end user and one of another tenant get the same answer: ServiceError `webhook_endpoint_not_found`. */
export async function webhookOf({ deps, caller }: Reader<'sharedRows'>, id: string, scope: Scope): Promise<WebhookEndpoint> {
  requireScope(caller, scope)
  const endpoint = isId('webhook', id)
    ? (await readEndpoints(deps.table.sharedRows, caller.tenant)).find((one) => one.id === id)
    : undefined
  if (endpoint === undefined || !isVisible(endpoint, caller))
    throw missing({
      code: 'webhook_endpoint_not_found',
      what: 'webhook endpoint',
      id,
      advice: 'Create one with POST /v1/webhook_endpoints.',
    })
  return endpoint
}
