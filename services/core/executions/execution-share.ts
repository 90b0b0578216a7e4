import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../ports/clock.ts'
import type { Quota, QuotaStore } from '../ports/quota-store.ts'

/** The counter of a tenant's running executions. */
const NAME = 'executions'
/** Entries of executions whose end was never recorded are dropped after this time, milliseconds: longer than any execution runs. */
const MAX_AGE_MS = 3 * 3_600_000
/** Waiting executions beyond this many are found by the reconciler instead; it bounds the size of the row. */
const MAX_WAITING = 2_000
const MAX_TRIES = 12
const MAX_PAUSE_MS = 8

export interface WaitingExecution {
  readonly executionId: string
  readonly containerId: string
}

/** Executions of one tenant that hold one of its `cap` slots, and those that wait for one in the order of their requests. */
export interface ExecutionShare {
  readonly cap: number
  /** Epoch ms at which each execution got its slot. */
  readonly running: Readonly<Record<string, number>>
  readonly waiting: readonly WaitingExecution[]
}

const EMPTY: ExecutionShare = { cap: 0, running: {}, waiting: [] }

/** Gives the execution a slot if one is free and no other waits for it. A repetition changes nothing. */
export function enterShare(share: ExecutionShare, entry: WaitingExecution, cap: number, now: number): ExecutionShare {
  const isLive = ([, since]: readonly [string, number]): boolean => now - since < MAX_AGE_MS
  const running = Object.fromEntries(Object.entries(share.running).filter(isLive))
  const { executionId } = entry
  if (executionId in running) return { ...share, running, cap }
  const others = share.waiting.filter((waiting) => waiting.executionId !== executionId)
  const isNext = others.length === share.waiting.length ? others.length === 0 : share.waiting[0]?.executionId === executionId
  if (Object.keys(running).length < cap && isNext) return { cap, running: { ...running, [executionId]: now }, waiting: others }
  const isKnown = others.length < share.waiting.length
  return { cap, running, waiting: isKnown || others.length >= MAX_WAITING ? share.waiting : [...share.waiting, entry] }
}

/** Frees the slot of an ended execution, and gives free slots to those that wait. */
export function leaveShare(
  share: ExecutionShare,
  executionId: string,
  now: number,
): { readonly share: ExecutionShare; readonly admitted: readonly WaitingExecution[] } {
  const { [executionId]: _, ...running } = share.running
  const waiting = share.waiting.filter((other) => other.executionId !== executionId)
  const free = Math.max(0, share.cap - Object.keys(running).length)
  const admitted = waiting.slice(0, free)
  const slots = Object.fromEntries(admitted.map((entry) => [entry.executionId, now]))
  return { share: { ...share, running: { ...running, ...slots }, waiting: waiting.slice(free) }, admitted }
}

interface SharePorts {
  readonly table: { readonly quotas: QuotaStore }
  readonly clock: Clock
}

/** Whether the execution may run now. Otherwise it waits: the end of another execution of the tenant admits it. */
export async function requestSlot(ports: SharePorts, tenant: string, entry: WaitingExecution, cap: number): Promise<boolean> {
  const after = await change(ports, tenant, (share) => enterShare(share, entry, cap, ports.clock.now()))
  return entry.executionId in after.running
}

/** Ends the execution's claim to a slot. Returns the executions that got a slot by it and have to be notified. Idempotent. */
export async function releaseSlot(ports: SharePorts, tenant: string, executionId: string): Promise<readonly WaitingExecution[]> {
  let admitted: readonly WaitingExecution[] = []
  await change(ports, tenant, (share) => {
    const isKnown = executionId in share.running || share.waiting.some((entry) => entry.executionId === executionId)
    admitted = []
    if (!isKnown) return share
    const left = leaveShare(share, executionId, ports.clock.now())
    admitted = left.admitted
    return left.share
  })
  return admitted
}

/** Executions of the tenant before this one in the order of slots; null when it does not wait for a slot. */
export async function slotPosition({ table }: Pick<SharePorts, 'table'>, tenant: string, executionId: string): Promise<number | null> {
  const { values } = await table.quotas.get<ExecutionShare>(tenant, NAME)
  const position = values?.waiting.findIndex((entry) => entry.executionId === executionId) ?? -1
  return position === -1 ? null : position
}

async function change(
  { table }: Pick<SharePorts, 'table'>,
  tenant: string,
  apply: (share: ExecutionShare) => ExecutionShare,
): Promise<ExecutionShare> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const seen: Quota<ExecutionShare> = await table.quotas.get<ExecutionShare>(tenant, NAME)
    const before = seen.values ?? EMPTY
    const after = apply(before)
    if (after === before || (await table.quotas.replace(tenant, NAME, seen, after))) return after
    await delay(Math.random() * MAX_PAUSE_MS * tries)
  }
  throw new Error(`The slots of tenant ${tenant} changed during each of ${MAX_TRIES} attempts. The step is retried.`)
}
