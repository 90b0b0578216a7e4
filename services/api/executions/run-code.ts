import { acceptExecution } from '../../core/executions/accept-execution.ts'
import type { Container } from '../../core/containers/container.ts'
import { topicOf } from '../../core/events.ts'
import { newId } from '../../core/ids.ts'
import { hasEnded, type Execution, type ExecutionScope } from '../../core/executions/execution.ts'
import type { ExecutionLanguage } from '../../core/executions/language.ts'
import type { ContainerStore } from '../../core/ports/container-store.ts'
import type { Subscription } from '../../core/ports/signals.ts'
import type { Caller } from '../../core/tenants/tenant.ts'
import { DEFAULT_LIMITS } from '../../core/tenants/tenant-limits.ts'
import { checkContainer, containerOf } from '../access.ts'
import { checkConcurrency } from '../check-limits.ts'
import type { ApiDeps } from '../deps.ts'
import type { ClaimedId } from '../http/claim-id.ts'
import { waitForRow } from '../../jobs/wait-for-row.ts'
import { storeSource, type CheckedSource } from './source.ts'

/** What a wire knows about the call that it serves. */
export interface RunContext {
  readonly deps: ApiDeps
  readonly caller: Caller
  readonly publicUrl: string
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  readonly note: (name: string, value: string) => void
}

export interface RunCodeRequest {
  readonly containerId: string
  readonly source: CheckedSource
  readonly scope?: ExecutionScope
  /** Python without it. */
  readonly language?: ExecutionLanguage
  readonly timeoutSeconds: number
  readonly onError?: 'stop' | 'continue'
  readonly storeHistory?: boolean
  readonly metadata?: Readonly<Record<string, string>>
  /** The id from `claimId`; a new one without it. */
  readonly claimed?: ClaimedId
  /** Longest wait for the end, milliseconds. */
  readonly waitMs: number
}

export interface RunCodeResult {
  /** As it is at its end, or when the wait is over. */
  readonly execution: Execution
  /** Executions of the container before it; null when it is not known. */
  readonly queuePosition: number | null
  /** The execution was accepted by an earlier call. */
  readonly isReplay: boolean
}

/**
 * Accepts code or a command for a container and waits for its end: the one way by which every wire runs either. Throws ServiceError when the code is not
 * accepted; failing code is a result.
 */
export async function runCode(context: RunContext, request: RunCodeRequest): Promise<RunCodeResult> {
  const { deps, caller } = context
  const { containerId, source } = request
  const container = await findContainer(context, request)
  const id = request.claimed?.id ?? newId(source.kind === 'command' ? 'command' : 'execution')
  const isReplay = request.claimed?.isReplay === true
  context.note('container_id', containerId)
  context.note('execution_id', id)
  // The subscription precedes the row, so the end of the execution cannot be missed.
  const subscription = deps.signals.subscribe(topicOf('execution', id))
  try {
    const earlier = isReplay ? await deps.table.executions.get(caller.tenant, id) : null
    if (earlier !== null)
      return { execution: await untilEnd(context, subscription, earlier, request.waitMs), queuePosition: null, isReplay: true }
    await deps.budget.checkRun(caller.tenant)
    if (container !== null) await checkConcurrency(deps, container)
    const accepted = await acceptExecution(
      deps,
      {
        tenant: caller.tenant,
        subject: caller.subject,
        id,
        containerId,
        responseId: null,
        source: await storeSource(deps.objects, caller.tenant, containerId, source),
        ...(request.scope !== undefined && { scope: request.scope }),
        ...(request.language !== undefined && { language: request.language }),
        timeoutSeconds: request.timeoutSeconds,
        onError: request.onError ?? 'stop',
        storeHistory: request.storeHistory ?? true,
        metadata: request.metadata ?? {},
        publicUrl: context.publicUrl,
      },
      deps.clock.now(),
    )
    const position = accepted.container.queue.indexOf(id)
    const execution = await untilEnd(context, subscription, accepted.execution, request.waitMs)
    return { execution, queuePosition: position === -1 ? null : position, isReplay: false }
  } finally {
    subscription.close()
  }
}

/**
 * The container, where something has to be known about it before the execution is accepted. Plain code of an account with default limits
 * needs no read: null; accepting finds a missing container.
 */
async function findContainer(context: RunContext, { containerId, source, claimed }: RunCodeRequest): Promise<Container | null> {
  const { deps, caller } = context
  const hasDefaultConcurrency = (await deps.limits.of(caller.tenant)).liveContainers === DEFAULT_LIMITS.liveContainers
  const needsContainer = source.kind !== 'code' || !hasDefaultConcurrency || claimed?.isReplay === true
  if (needsContainer) return containerOf(context, containerId)
  await checkContainer(context, containerId)
  return null
}

/** Reads an execution until it has ended, or `waitMs` are over, or the client has disconnected. */
export async function waitForExecution(
  context: Omit<RunContext, 'publicUrl' | 'note' | 'caller'>,
  id: string,
  read: () => Promise<Execution>,
  waitMs: number,
): Promise<Execution> {
  const subscription = context.deps.signals.subscribe(topicOf('execution', id))
  try {
    return await untilEnd(context, subscription, await read(), waitMs)
  } finally {
    subscription.close()
  }
}

function untilEnd(
  { deps, signal }: Pick<RunContext, 'deps' | 'signal'>,
  subscription: Subscription,
  first: Execution,
  waitMs: number,
): Promise<Execution> {
  return waitForRow(
    subscription,
    async () => (await deps.table.executions.get(first.tenant, first.id)) ?? first,
    (row) => hasEnded(row.status),
    { now: () => deps.clock.now(), deadline: deps.clock.now() + waitMs, signal },
    first,
  )
}

/** How many executions of the container come first; null unless it is queued. */
export async function queuePosition(containers: Pick<ContainerStore, 'get'>, row: Execution): Promise<number | null> {
  if (row.status !== 'queued') return null
  const position = (await containers.get(row.tenant, row.containerId))?.queue.indexOf(row.id) ?? -1
  return position === -1 ? null : position
}
