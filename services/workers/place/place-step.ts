import pLimit from 'p-limit'
import type { PlacementMessage } from '../../model/messages.ts'
import { SANDBOX_CHECK_MS } from '../../operations/sandboxes/new-sandbox.ts'
import { DriverError, type SandboxStatus } from '../../ports/sandbox-driver.ts'
import type { Sandbox } from '../../model/sandboxes/sandbox.ts'
import type { PlaceDeps } from '../deps.ts'
import { notifyStep, notifyWaitingForSandbox } from './notify-waiting.ts'
import type { Pool } from './pool.ts'
import { startSandbox } from './start-sandbox.ts'
import { stopSandbox } from './stop-sandbox.ts'
import { suspendSandbox } from './suspend-sandbox.ts'
import { repairSandbox } from './repair-sandbox.ts'

/**
 * A throttled call is repeated after a random time, seconds: up to an eighth of the time that its sandbox has waited, within these bounds. Many waiting calls
 * then keep the platform's rate in use, and those that wait long leave it to new ones.
 */
const THROTTLED_SECONDS = { min: 4, max: 30 } as const

/** Starts, stops and refills: the only steps that call the compute API. */
export function createPlaceStep(deps: PlaceDeps, pool: Pool): (message: PlacementMessage) => Promise<void> {
  const perform = createAction(deps, pool)
  return async (message) => {
    try {
      await perform(message)
    } catch (cause) {
      if (!(cause instanceof DriverError && cause.kind === 'throttled')) throw cause
      deps.telemetry.emit({ event: 'platform_throttled', outcome: 'again', message: message.type, detail: cause.message })
      const row = await keepFromReconciler(deps, message)
      const waitedSeconds = row?.state === 'starting' ? (deps.clock.now() - row.createdAt) / 1000 : 0
      const longest = Math.min(THROTTLED_SECONDS.max, Math.max(THROTTLED_SECONDS.min, waitedSeconds / 8))
      const group = 'tenant' in message ? message.tenant : '_pool'
      await deps.queue.send('placements', message, { group, delaySeconds: 1 + Math.random() * (longest - 1) })
    }
  }
}

const PASSING_STATES = {
  'sandbox.start': 'starting',
  'sandbox.place': 'starting',
  'sandbox.suspend': 'suspending',
  'sandbox.stop': 'stopping',
} as const

/**
 * While its message is repeated, the row of a start or stop is not due. Otherwise each pass of the reconciler would add another message or call, and
 * their number would grow until hardly a call of a new start passed the platform's rate.
 */
async function keepFromReconciler({ table, clock }: PlaceDeps, message: PlacementMessage): Promise<Sandbox | null> {
  if (message.type === 'sandbox.refill' || message.type === 'sandbox.check') return null
  const state = PASSING_STATES[message.type]
  return table.sandboxes.move(message.sandboxId, { from: [state] }, { dueAt: clock.now() + SANDBOX_CHECK_MS })
}

const createAction =
  (deps: PlaceDeps, pool: Pool) =>
  async (message: PlacementMessage): Promise<void> => {
    switch (message.type) {
      case 'sandbox.refill':
        return pool.refill()
      case 'sandbox.check':
        return checkSandboxes(deps)
      case 'sandbox.suspend': {
        const sandbox = await deps.table.sandboxes.get(message.sandboxId)
        return sandbox?.state === 'suspending' ? suspendSandbox(deps, sandbox) : undefined
      }
      case 'sandbox.stop':
        return stopSandbox(deps, message.sandboxId)
      case 'sandbox.start': {
        const sandbox = await deps.table.sandboxes.get(message.sandboxId)
        if (sandbox?.state !== 'starting' || sandbox.launchedAt !== undefined) return
        const started = await startSandbox(deps, sandbox)
        // A container may have reserved it since the row was read.
        // After a failed resumption another sandbox is requested at once.
        const outcome = started === null && sandbox.checkpoint === undefined ? 'failed' : 'started'
        if (started === null) await notifyWaitingForSandbox(deps, (await deps.table.sandboxes.get(sandbox.id)) ?? sandbox, outcome)
        else if (started.state !== 'starting') await notifyWaitingForSandbox(deps, started, 'started')
        return
      }
      case 'sandbox.place': {
        const sandbox = await deps.table.sandboxes.get(message.sandboxId)
        // Launched by an earlier delivery: an event reports the rest.
        if (sandbox?.state === 'starting' && sandbox.launchedAt !== undefined) return
        const started = sandbox?.state === 'starting' ? await startSandbox(deps, sandbox) : sandbox
        if (started?.state === 'starting') return
        // The execution's next step reads the outcome. After a failure it requests another start, so it is delayed.
        return notifyStep(deps, message, sandbox?.state === 'starting' && started === null ? 'failed' : 'started')
      }
    }
  }

/** Changed sandboxes that are repaired at the same time. */
const AT_ONCE = 16
/** A younger start is left to its event and to the next pass, milliseconds. */
const YOUNG_START_MS = 60_000

/**
 * Compares every launched sandbox with the platform, with one read per hundred, and repairs those whose event was lost. It runs between two passes of the
 * reconciler, so that a dead sandbox is found within half of their interval. It writes nothing for a sandbox that did not change.
 */
async function checkSandboxes(deps: PlaceDeps): Promise<void> {
  const now = deps.clock.now()
  const launched = (await deps.table.sandboxes.all()).filter((sandbox) => isChecked(sandbox, now))
  if (launched.length === 0) return
  const statuses = await deps.driver.inspectAll(launched)
  const slots = pLimit(AT_ONCE)
  const changed = launched.flatMap((sandbox, place) => {
    const status = statuses[place]
    return status !== undefined && hasChanged(sandbox, status) ? [{ sandbox, status }] : []
  })
  await Promise.all(changed.map(({ sandbox, status }) => slots(() => repairSandbox(deps, sandbox, () => Promise.resolve(status)))))
}

const isChecked = ({ state, platformId, launchedAt }: Sandbox, now: number): boolean =>
  platformId !== undefined &&
  (state === 'ready' || state === 'claimed' || (state === 'starting' && launchedAt !== undefined && now - launchedAt > YOUNG_START_MS))

const hasChanged = ({ state }: Sandbox, { phase }: SandboxStatus): boolean =>
  phase === 'gone' || (state === 'starting' && phase === 'ready')
