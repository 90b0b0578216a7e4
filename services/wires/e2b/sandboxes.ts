import { releaseSandbox } from '../../operations/containers/release-sandbox.ts'
import { resumeContainer } from '../../operations/containers/suspend-container.ts'
import { cancelExecution } from '../../operations/executions/cancel-execution.ts'
import * as z from 'zod'
import { boundedList, boundedRecord, openObject } from '../../model/bounded-schemas.ts'
import { lazySchema, type Described } from '../../model/lazy-schema.ts'
import { commandsOf, type Container } from '../../model/containers/container.ts'
import { createContainer } from '../../operations/containers/create-container.ts'
import { ServiceError } from '../../model/errors.ts'
import { endContainer } from '../../operations/containers/end-container.ts'
import { environment } from '../../http/execution-scope.ts'
import { json } from '../../http/responses.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { storeSecrets } from '../../operations/network/new-policy.ts'
import { setContainerNetwork } from '../../operations/network/set-network.ts'
import { NetworkRules, NetworkUpdate, networkOfSandbox } from './network.ts'
import { admit, endAt, newSession } from './admit.ts'
import { copiesFor, sessionOfCopy, snapshotOfTemplate } from './copies.ts'
import { CONTAINER_NAME, listSandboxes } from './list-sandboxes.ts'
import { NotOfferedError } from './errors.ts'
import { bodyOf, e2bRoute } from './routing.ts'
import { describe, stateOf } from './sandbox-info.ts'
import { sandboxMissing, sandboxOf } from './open-sandbox.ts'
import { labelOf as sandboxIdOf } from '../../model/containers/container-label.ts'
import { changeSession, isPaused, isPausedByTime, sessionOf, type Session } from './session.ts'
import { imageOf } from './templates.ts'

const MAX_SECONDS = 86_400
/** Metadata and variables of a sandbox as JSON, bytes: they are stored in the container's row. */
const MAX_SESSION_BYTES = 32 * 1024
const MAX_METADATA = 100

const texts = lazySchema(() => boundedRecord(z.string().min(1).max(255), z.string(), MAX_METADATA).nullish())
const seconds = lazySchema(() => z.number().min(0).max(MAX_SECONDS).nullish())
const CreateSandbox = lazySchema(() =>
  openObject({
    templateID: z.string().max(200).default('base'),
    timeout: seconds(),
    metadata: texts(),
    envVars: environment().nullish(),
    autoPause: z.boolean().nullish(),
    autoPauseMemory: z.boolean().nullish(),
    autoResume: openObject({ enabled: z.boolean() }).nullish(),
    network: NetworkRules().nullish(),
    allow_internet_access: z.boolean().nullish(),
    volumeMounts: boundedList(z.unknown(), { max: 100 }).nullish(),
    mcp: z.unknown().optional(),
    iam: z.unknown().optional(),
  }),
)
const Timeout = lazySchema(() => openObject({ timeout: seconds() }))
const Pause = lazySchema(() => openObject({ memory: z.boolean().nullish() }))

function refuseNotOffered(body: Described<typeof CreateSandbox>): void {
  const given = (value: unknown): boolean => value !== undefined && value !== null
  if (given(body.mcp)) throw new NotOfferedError('Sandboxes run no MCP gateway. Omit `mcp`.')
  if (given(body.iam)) throw new NotOfferedError('Sandboxes have no workload identity. Omit `iam`.')
  if ((body.volumeMounts ?? []).length > 0)
    throw new NotOfferedError('Sandboxes mount no volumes. Omit `volumeMounts`, and upload files instead.')
}

async function create(call: Call): Promise<Response> {
  const { deps, caller } = call
  const body = await bodyOf(call, CreateSandbox())
  refuseNotOffered(body)
  if (body.autoPauseMemory === false && body.autoResume?.enabled === true)
    throw new ServiceError(
      'invalid_request',
      'A sandbox that pauses without its memory resumes by `connect` only. Omit `autoPauseMemory` or `autoResume`.',
    )
  const snapshot = await snapshotOfTemplate(call, body.templateID)
  const image = snapshot === null ? imageOf(call, body.templateID) : undefined
  const { metadata, envVars } = body
  if (Buffer.byteLength(JSON.stringify([metadata, envVars])) > MAX_SESSION_BYTES)
    throw new ServiceError(
      'request_too_large',
      `Metadata and environment variables of a sandbox exceed ${MAX_SESSION_BYTES} bytes together. Write large values to a file of the sandbox.`,
    )
  const session: Session = {
    ...(snapshot === null ? newSession(body.templateID) : sessionOfCopy(snapshot, body.templateID)),
    metadata: metadata ?? {},
    env: { ...(snapshot && sessionOf(snapshot)?.env), ...envVars },
    endAt: endAt(call, body.timeout),
    onTimeout: body.autoPause === true ? 'pause' : 'kill',
    autoResume: body.autoResume?.enabled === true,
    keepsMemory: body.autoPauseMemory ?? true,
    hasClosedPorts: body.network?.allowPublicTraffic === false,
    requestHost: body.network?.maskRequestHost ?? null,
  }
  if (snapshot !== null) {
    const [copy] = await copiesFor(call, snapshot, 1)
    return json(201, await admit(call, copy, () => session))
  }
  const { tenant, subject } = caller
  const network = await networkOfSandbox(deps, caller, { rules: body.network, internet: body.allow_internet_access })
  const wanted = {
    tenant,
    subject,
    name: CONTAINER_NAME,
    memoryTier: '1g',
    network: network.policy,
    ...(image !== undefined && { image }),
  } as const
  const row = await createContainer(deps.table, wanted, deps.clock.now())
  await storeSecrets(deps, { tenant, subject, owner: row.id }, network.secrets)
  call.note('container_id', row.id)
  return json(201, await admit(call, row, () => session))
}

/** Resumes a sandbox. A container that another wire created becomes a sandbox by this call; it is not deleted when its time is over. */
async function connect(call: Call): Promise<Response> {
  const row = await sandboxOf(call, 'run')
  const { timeout } = await bodyOf(call, Timeout())
  const bare = newSession(row.image ?? 'base')
  const now = call.deps.clock.now()
  const status = stateOf(row, now) === 'paused' ? 201 : 200
  const session = sessionOf(row)
  if (session?.keepsMemory === false && isPausedByTime(session, now)) await pauseContainer(call, row, { keepsMemory: false })
  const answer = await admit(call, row, (before = bare) => ({
    ...before,
    // A shorter time than the sandbox has left does not shorten it.
    endAt: isPaused(before, call.deps.clock.now()) ? endAt(call, timeout) : Math.max(before.endAt, endAt(call, timeout)),
    isPaused: false,
  }))
  // Its commands continue, not only its next call.
  if (call.deps.canSuspend === true) await resumeContainer(call.deps, row, call.request.signal)
  return json(status, answer)
}

const noContent = (): Response => new Response(null, { status: 204 })

async function kill(call: Call): Promise<Response> {
  const row = await sandboxOf(call, 'run')
  await endContainer(call.deps, row.tenant, row.id)
  return noContent()
}

async function setEnd(call: Call): Promise<Response> {
  const row = await sandboxOf(call, 'run')
  const { timeout } = await bodyOf(call, Timeout())
  await changeSession(call, row, (session) => session && { ...session, endAt: endAt(call, timeout) })
  return noContent()
}

/** Maximum wait for saving the variables of a large kernel, milliseconds; then the client tries again. */
const PAUSE_MS = 55_000

/**
 * Hibernates or suspends a container now: its sandbox uses no memory. Commands that run end first where the platform cannot keep processes, and without
 * `keepsMemory`. Throws ServiceError `sandbox_unavailable` when that takes too long; the sandbox then runs on.
 */
async function pauseContainer(
  { deps, request }: Pick<Call, 'deps' | 'request'>,
  container: Container,
  { keepsMemory }: { readonly keepsMemory: boolean },
): Promise<void> {
  const { tenant } = container
  const keepsProcesses = deps.canSuspend === true && keepsMemory
  // Only a sandbox that runs can end its processes.
  if (deps.canSuspend === true && !keepsMemory) await resumeContainer(deps, container, request.signal)
  if (!keepsProcesses) for (const id of commandsOf(container)) await cancelExecution(deps, { tenant, id })
  const released = await releaseSandbox(deps, container, { timeoutMs: PAUSE_MS, signal: request.signal, keepsProcesses })
  if (released === 'busy')
    throw new ServiceError('sandbox_unavailable', `The sandbox ${sandboxIdOf(container)} is busy. Pause it when its code has ended.`)
  await changeSession({ deps }, container, (session) => session && { ...session, isPaused: true })
}

async function pause(call: Call): Promise<Response> {
  const row = await sandboxOf(call, 'run')
  if (stateOf(row, call.deps.clock.now()) === 'paused')
    throw new ServiceError('conflict', `The sandbox ${sandboxIdOf(row)} is paused already. Connect to it to resume it.`)
  const { memory } = await bodyOf(call, Pause())
  await pauseContainer(call, row, { keepsMemory: memory ?? true })
  return noContent()
}

async function setNetwork(call: Call): Promise<Response> {
  const { deps } = call
  const row = await sandboxOf(call, 'run')
  const body = await bodyOf(call, NetworkUpdate())
  const wanted = await networkOfSandbox(deps, row, { rules: body, internet: body.allow_internet_access })
  if ((await setContainerNetwork(deps, row, wanted)) === null) throw sandboxMissing(sandboxIdOf(row))
  return noContent()
}

const control = { plane: 'control', scope: 'run' } as const

export const sandboxRoutes: readonly AnyRoute[] = [
  ...['/v2/sandboxes', '/sandboxes'].flatMap((path) => [
    e2bRoute({ ...control, method: 'post', path, body: CreateSandbox, handle: create }),
    e2bRoute({ ...control, scope: 'read', method: 'get', path, handle: listSandboxes }),
  ]),
  ...['/v2/sandboxes/{sandbox_id}/connect', '/sandboxes/{sandbox_id}/connect', '/sandboxes/{sandbox_id}/resume'].map((path) =>
    e2bRoute({ ...control, method: 'post', path, body: Timeout, handle: connect }),
  ),
  e2bRoute({
    ...control,
    scope: 'read',
    method: 'get',
    path: '/sandboxes/{sandbox_id}',
    handle: async (call) => json(200, describe(await sandboxOf(call, 'read'), call.deps.clock.now())),
  }),
  e2bRoute({ ...control, method: 'delete', path: '/sandboxes/{sandbox_id}', handle: kill }),
  e2bRoute({ ...control, method: 'post', path: '/sandboxes/{sandbox_id}/timeout', body: Timeout, handle: setEnd }),
  e2bRoute({ ...control, method: 'post', path: '/sandboxes/{sandbox_id}/pause', body: Pause, handle: pause }),
  e2bRoute({ ...control, method: 'put', path: '/sandboxes/{sandbox_id}/network', body: NetworkUpdate, handle: setNetwork }),
]
