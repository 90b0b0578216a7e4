import { BoundedCache } from '../../model/bounded-cache.ts'
import type { Container } from '../../model/containers/container.ts'
import type { Execution } from '../../model/executions/execution.ts'
import { ServiceError } from '../../model/errors.ts'
import { isId } from '../../model/ids.ts'
import { JWT_KEY_PREFIX, type Caller, type Scope } from '../../model/tenants/tenant.ts'
import { isVisible, visibleTo } from '../../operations/access.ts'
import { endContainer } from '../../operations/containers/end-container.ts'
import { withKey, type Authenticate } from '../../http/authenticate.ts'
import type { ApiDeps } from '../../http/deps.ts'
import { runContext, type Call } from '../../http/route.ts'
import { hostOf } from '../../http/public-url.ts'
import type { RunContext } from '../../operations/executions/run-code.ts'
import { findGrant, hasExpiredSignature, presentedBy } from './access-token.ts'
import { SandboxGoneError } from './errors.ts'
import { labelOf as sandboxIdOf, parseLabel as parseSandboxId } from '../../model/containers/container-label.ts'
import { changeSession, DEFAULT_SECONDS, isPaused, sessionOf, type Session } from './session.ts'

/** Of an id that an answer repeats. */
const MAX_ID_CHARACTERS = 80

export const sandboxMissing = (sandboxId: string): ServiceError =>
  new ServiceError('container_not_found', `No sandbox ${JSON.stringify(sandboxId.slice(0, 80))} exists. Create one.`)

/** The caller of the control plane, by `X-API-Key`. */
export async function authenticateControl(request: Request, _deps: ApiDeps, byKey: Authenticate): Promise<Caller> {
  const key = request.headers.get('x-api-key')
  return byKey(key === null ? request : withKey(request, keyOf(key)))
}

const VISIBLE = /^[\x21-\x7e]+$/
const KEY_FORM = /^e2b_((?:[0-9a-f]{2})+)$/

/** Some clients of E2B accept keys of its form only, so each key also works as `e2b_` and the hexadecimal digits of its bytes. */
function keyOf(given: string): string {
  const decoded = Buffer.from(KEY_FORM.exec(given)?.[1] ?? '', 'hex').toString('latin1')
  return VISIBLE.test(decoded) ? decoded : given
}

/** The sandbox that the path names. Another tenant's id is answered like one that does not exist. */
export async function sandboxOf(call: Pick<Call, 'deps' | 'caller' | 'param'>, scope: Scope): Promise<Container> {
  const { deps, caller } = call
  const isVisibleToCaller = visibleTo(caller, scope)
  const id = call.param('sandbox_id')
  // The id of a container names its sandbox for the control plane, so that clients learn the id of the sandbox.
  const name = isId('container', id) ? { tenant: caller.tenant, containerId: id } : parseSandboxId(id)
  const row = name?.tenant === caller.tenant ? await deps.table.containers.get(name.tenant, name.containerId) : null
  if (row === null || row.deletedAt !== null || !isVisibleToCaller(row)) throw sandboxMissing(id)
  if (await endIfOverdue(deps, row)) throw sandboxMissing(id)
  return row
}

/** Whether the time of a sandbox is over that is then to be deleted. */
export function isOverdue(container: Container, now: number): boolean {
  const session = sessionOf(container)
  return session !== undefined && !session.isPaused && session.onTimeout === 'kill' && session.endAt <= now
}

/** Deletes an expired sandbox, unless it is to be paused. Returns whether it was deleted. */
export async function endIfOverdue(deps: ApiDeps, row: Container): Promise<boolean> {
  if (!isOverdue(row, deps.clock.now())) return false
  await endContainer(deps, row.tenant, row.id)
  return true
}

const refused = (): ServiceError =>
  new ServiceError('invalid_api_key', 'The access token does not open this sandbox. Connect to the sandbox again.')
const expired = (): ServiceError => new ServiceError('invalid_api_key', 'signature is already expired')

/** A sandbox as a call of the data plane opens it. */
export interface OpenSandbox {
  readonly container: Container
  readonly session: Session
}
const opened = new WeakMap<Request, OpenSandbox>()

/** The sandbox's id: from the header, else from the host name `<port>-<id>.<domain>`. */
const sandboxIdIn = (request: Request, deps: ApiDeps): string =>
  request.headers.get('e2b-sandbox-id') ?? /^\d+-([0-9a-z]+)\./.exec(hostOf(request, deps.config))?.[1] ?? ''

/** The caller of the data plane, by the token that `create` and `connect` answered, or by the signature of a file's URL. */
export async function authenticateData(request: Request, deps: ApiDeps): Promise<Caller> {
  const id = sandboxIdIn(request, deps)
  const name = parseSandboxId(id)
  const container = name === null ? null : await deps.table.containers.get(name.tenant, name.containerId)
  const session = container?.deletedAt === null ? sessionOf(container) : undefined
  // Clients take a sandbox as ended by this answer, whatever token they have.
  if (container === null || session === undefined) throw new SandboxGoneError(id.slice(0, MAX_ID_CHARACTERS))
  const now = deps.clock.now()
  if (hasExpiredSignature(request, now)) throw expired()
  const isToken = presentedBy(request, now)
  const grant = isToken === null ? null : findGrant(session, isToken, now)
  if (grant === null || !isVisible(container, grant)) throw refused()
  await checkKey(deps, container.tenant, grant.keyId)
  if (await endIfOverdue(deps, container))
    throw new SandboxGoneError(id, `The sandbox ${id} reached its timeout and was ended. Create another one.`)
  opened.set(request, { container, session })
  return { tenant: container.tenant, subject: container.subject, keyId: grant.keyId, scopes: grant.scopes }
}

/** What the authenticator has opened for this call. */
export function openSandbox(call: Pick<Call, 'request'>): OpenSandbox {
  const open = opened.get(call.request)
  if (open === undefined) throw new Error('a route of the data plane has another authenticator')
  return open
}

/** The sandbox for a call that uses it. A paused one refuses, unless its client chose to let calls wake it. */
export async function useSandbox(call: Call): Promise<OpenSandbox & { readonly context: RunContext }> {
  const open = openSandbox(call)
  const { container, session } = open
  const now = call.deps.clock.now()
  if (isPaused(session, now)) {
    const id = sandboxIdOf(container)
    if (!session.autoResume) throw new SandboxGoneError(id, `The sandbox ${id} is paused. Connect to it to resume it.`)
    const endAt = now + DEFAULT_SECONDS * 1000
    await changeSession(call, container, (present) => present && { ...present, isPaused: false, endAt: Math.max(present.endAt, endAt) })
  }
  return { ...open, context: runContext(call) }
}

/** Breaks the stream of a reader: its client then asks whether the sandbox lives, and reports that it was killed. */
class SandboxDeletedError extends Error {
  override readonly name = 'SandboxDeletedError'
}

/** Throws SandboxDeletedError when the container of an execution is deleted. */
export async function breakIfDeleted(
  { table }: Pick<ApiDeps, 'table'>,
  { tenant, containerId }: Pick<Execution, 'tenant' | 'containerId'>,
): Promise<void> {
  const container = await table.containers.get(tenant, containerId)
  if (container?.deletedAt !== null) throw new SandboxDeletedError(`The container ${containerId} was deleted while its stream was open.`)
}

/** Keys that were valid a short time ago. */
const checkedKeys = new WeakMap<ApiDeps['table']['tenants'], BoundedCache<string, true>>()
const MAX_CHECKED_KEYS = 1_000

/** Throws ServiceError when the key was revoked or has expired, or its tenant is deleted. Keys are removed with their tenant only. */
export async function checkKey(
  { table: { tenants }, ...deps }: Pick<ApiDeps, 'table' | 'clock' | 'config'>,
  tenantId: string,
  keyId: string,
): Promise<void> {
  const checked = checkedKeys.get(tenants) ?? new BoundedCache<string, true>(MAX_CHECKED_KEYS)
  checkedKeys.set(tenants, checked)
  const now = deps.clock.now()
  const place = `${tenantId} ${keyId}`
  if (checked.get(place, now) !== undefined) return
  const isStored = !keyId.startsWith(JWT_KEY_PREFIX)
  const [tenant, key] = await Promise.all([tenants.get(tenantId), isStored ? tenants.getKey(keyId) : null])
  const isOver = key !== null && (key.revokedAt !== null || (key.expiresAt ?? Number.POSITIVE_INFINITY) <= now)
  if (isOver || tenant?.deletion !== undefined) throw refused()
  checked.set(place, true, now + deps.config.keyCacheMs)
}
