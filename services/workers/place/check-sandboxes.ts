import pLimit from 'p-limit'
import type { SandboxStatus } from '../../ports/sandbox-driver.ts'
import type { Sandbox } from '../../model/sandboxes/sandbox.ts'
import type { PlaceDeps } from '../deps.ts'
import { repairSandbox } from './repair-sandbox.ts'

/** Changed sandboxes that are repaired at the same time. */
const AT_ONCE = 16
/** A younger start is left to its event and to the next pass, milliseconds. */
const YOUNG_START_MS = 60_000

/**
 * Compares every launched sandbox with the platform, with one read per hundred, and repairs those whose event was lost. It runs between two passes of the
 * reconciler, so that a dead sandbox is found within half of their interval. It writes nothing for a sandbox that did not change.
 */
export async function checkSandboxes(deps: PlaceDeps): Promise<void> {
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
