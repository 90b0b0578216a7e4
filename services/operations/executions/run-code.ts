import { acceptExecution } from './accept-execution.ts'
import type { Container } from '../../model/containers/container.ts'
import { topicOf } from '../../model/events.ts'
import { newId } from '../../model/ids.ts'
import { workKindOf } from '../../model/executions/work-kinds.ts'
import { hasEnded, type Execution, type ExecutionScope } from '../../model/executions/execution.ts'
import type { ExecutionLanguage } from '../../model/executions/language.ts'
import type { Signals, Subscription } from '../../ports/signals.ts'
import type { Caller } from '../../model/tenants/tenant.ts'
import { checkStorage } from '../tenancy/meter-storage.ts'
import { checkContainer, containerOf } from '../access.ts'
import { checkConcurrency, checkLanguage, checkQueuedJobs } from '../tenancy/check-limits.ts'
import type { ImageCatalogue } from '../../model/containers/images.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { NetworkPorts } from '../../ports/network-gateway.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Table } from '../../ports/table.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import type { ClaimedId } from '../claimed-id.ts'
import type { BudgetReader } from '../tenancy/budget.ts'
import { NO_HOLD, whileHeld, type Hold } from '../tenancy/hold.ts'
import type { LimitReader } from '../tenancy/limit-reader.ts'
import type { ResourceCounts } from '../tenancy/resource-counts.ts'
import type { ResultBudget } from './result-budget.ts'
import { waitForRow } from '../../jobs/wait-for-row.ts'
import type { CheckedSource } from './source.ts'
import { storeSource } from './store-source.ts'

/** The fields of an execution's row without its source. */
const ROW_BYTES = 2 * 1024

/** What running code, commands and file operations needs. */
export interface RunPorts {
  readonly table: Table
  readonly queue: Queue
  readonly objects: ObjectStore
  readonly signals: Signals
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly images: Pick<ImageCatalogue, 'defaultName' | 'names' | 'has' | 'resolve'>
  readonly limits: LimitReader
  readonly counts: ResourceCounts
  readonly budget: BudgetReader
  readonly results: ResultBudget
  readonly network?: NetworkPorts
  readonly config: { readonly maxHoldSeconds: number }
}

/** Who runs something, and how long the caller listens. */
export interface RunContext {
  readonly deps: RunPorts
  readonly caller: Caller
  readonly publicUrl: string
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /** Counts a call that waits. */
  readonly hold: () => Promise<Hold>
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
  /** Maximum wait for the end, milliseconds. */
  readonly waitMs: number
}

export interface RunCodeResult {
  /** The execution at its end, or at the end of the wait. */
  readonly execution: Execution
  /** The container's queue at the acceptance; absent when an earlier call accepted the execution. */
  readonly queue?: readonly string[]
  /** The execution was accepted by an earlier call. */
  readonly isReplay: boolean
}

/**
 * Accepts code or a command for a container and waits for its end. Every wire runs both through this function. Throws ServiceError when the code is not
 * accepted; failing code is a result.
 */
export async function runCode(context: RunContext, request: RunCodeRequest): Promise<RunCodeResult> {
  const { deps, caller } = context
  const { containerId, source } = request
  const container = await findContainer(context, request)
  const id = request.claimed?.id ?? newId(workKindOf(request).name)
  const isReplay = request.claimed?.isReplay === true
  context.note('container_id', containerId)
  context.note('execution_id', id)
  const hold = request.waitMs === 0 ? NO_HOLD : await context.hold()
  const signal = whileHeld(context.signal, hold)
  // The subscription precedes the row, so the end of the execution cannot be missed.
  const subscription = deps.signals.subscribe(topicOf('execution', id))
  try {
    const earlier = isReplay ? await deps.table.executions.get(caller.tenant, id) : null
    if (earlier !== null)
      return { execution: await untilEnd({ deps, signal }, subscription, { first: earlier, waitMs: request.waitMs }), isReplay: true }
    await Promise.all([deps.budget.checkRun(caller.tenant), checkStorage(deps.counts.storageBytes, caller.tenant, storedBytesOf(request))])
    if (container !== null) await checkConcurrency(deps, container)
    if (container !== null && isChosen(request.language)) await checkLanguage(deps, container, request.language)
    await checkQueuedJobs(deps, caller.tenant)
    const accepted = await acceptExecution(
      deps,
      {
        tenant: caller.tenant,
        subject: caller.subject,
        id,
        containerId,
        responseId: null,
        source: await storeSource(deps, { tenant: caller.tenant, containerId, source }),
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
    const execution = await untilEnd({ deps, signal }, subscription, { first: accepted.execution, waitMs: request.waitMs })
    // After a wait the queue has changed.
    return { execution, ...(request.waitMs === 0 && { queue: accepted.container.queue }), isReplay: false }
  } finally {
    subscription.close()
    await hold.release()
  }
}

/** About what the acceptance stores: it writes the row and the container's queue at once, so the table itself refuses no execution. */
const storedBytesOf = ({ source, scope, metadata }: RunCodeRequest): number =>
  ROW_BYTES + Buffer.byteLength(source.kind === 'code' ? source.code : JSON.stringify([source, scope, metadata]))

/** Every image has Python. */
const isChosen = (language: ExecutionLanguage | undefined): language is ExecutionLanguage => language !== undefined && language !== 'python'

/**
 * The container, if it is needed before the execution is accepted. Null for plain code of an account that may start a sandbox, which needs no read:
 * acceptance detects a missing container.
 */
async function findContainer(context: RunContext, { containerId, source, claimed, language }: RunCodeRequest): Promise<Container | null> {
  const { deps, caller } = context
  const needsContainer = source.kind !== 'code' || isChosen(language) || claimed?.isReplay === true
  if (needsContainer || !(await deps.counts.liveContainers.admits(caller.tenant))) return containerOf(context, containerId, 'run')
  await checkContainer(context, containerId, 'run')
  return null
}

/** Waits until an execution has ended, `waitMs` have passed, or the client has disconnected; returns its row. */
export async function waitForExecution(
  context: Omit<RunContext, 'publicUrl' | 'note' | 'caller'>,
  id: string,
  { read, waitMs }: { readonly read: () => Promise<Execution>; readonly waitMs: number },
): Promise<Execution> {
  const hold = await context.hold()
  const subscription = context.deps.signals.subscribe(topicOf('execution', id))
  try {
    return await untilEnd({ ...context, signal: whileHeld(context.signal, hold) }, subscription, { first: await read(), waitMs })
  } finally {
    subscription.close()
    await hold.release()
  }
}

function untilEnd(
  { deps, signal }: Pick<RunContext, 'deps' | 'signal'>,
  subscription: Subscription,
  { first, waitMs }: { readonly first: Execution; readonly waitMs: number },
): Promise<Execution> {
  return waitForRow(subscription, {
    read: async () => (await deps.table.executions.poll(first.tenant, first.id)) ?? first,
    isDone: (row) => hasEnded(row.status),
    first,
    now: () => deps.clock.now(),
    deadline: deps.clock.now() + waitMs,
    signal,
  })
}
