import type { Container, Snapshot } from '../../../model/containers/container.ts'
import type { Lost } from '../../../model/executions/execution.ts'
import { LIMITS } from '../../../model/limits.ts'
import { SupervisorError, type NamespaceUsage, type SupervisorErrorCode } from '../../../ports/supervisor.ts'
import type { RunDeps } from '../../deps.ts'
import { LeaseLostError } from '../../../jobs/lease.ts'
import { SandboxBusyError } from '../stream/failures.ts'
import type { NamespaceTransfer } from './namespace-budget.ts'

export interface Restored {
  readonly lost: readonly Lost[]
  readonly usage: NamespaceUsage
}
export const NO_USAGE: NamespaceUsage = { runMs: 0, cpuMs: 0 }

type Sleeper = Container & { readonly snapshot: Snapshot }

/** The snapshot is abandoned after this many sandboxes ended while restoring it. */
const MAX_ATTEMPTS = 4
const MAX_NAME_CHARACTERS = 200
const MAX_REASON_CHARACTERS = 300
/** The supervisor's name for all variables together; no variable can have this name. */
const EVERYTHING = '*'
const IDENTIFIER = /^[\p{L}_][\p{L}\p{N}_]*$/u

/**
 * Restores the variables of a hibernated container in its new sandbox. A sandbox that has run code refuses them. A repetition after a crash restores
 * the same variables. Returns the losses.
 */
export async function restoreVariables(
  deps: RunDeps,
  { session, container, budget, signal }: NamespaceTransfer & { readonly container: Sleeper },
): Promise<Restored> {
  const { tenant, id, generation } = container
  const { objectKey, isCopy = false } = container.snapshot
  const began = deps.clock.now()
  const row = await deps.table.containers.beginRestore(tenant, id, { generation, objectKey })
  if (row === null) throw new LeaseLostError(id)
  const report = (outcome: string, lost: readonly Lost[], usage: NamespaceUsage = NO_USAGE): Restored => {
    const { bytes } = container.snapshot
    deps.telemetry.emit({ event: 'wake', outcome, tenant, container: id, bytes, lost: lost.length, wake_ms: deps.clock.now() - began })
    return { lost, usage }
  }
  if ((row.snapshot?.tries ?? 0) > MAX_ATTEMPTS) return report('given_up', all(`${MAX_ATTEMPTS} sandboxes ended while they were restored.`))
  const object = await deps.objects.get(objectKey)
  if (object === null) return report('missing', all('Their snapshot no longer exists.'))
  try {
    const { lost, usage } = await deps.supervisor.restore(session, { snapshot: object, budget, isCopy }, signal)
    return report('restored', named(lost), usage)
  } catch (cause) {
    if (!(cause instanceof SupervisorError)) throw cause
    if (cause.code === 'conflict') throw new SandboxBusyError('The sandbox restores for another worker', { cause })
    if (!UNUSABLE.has(cause.code)) throw cause
    const usage = { runMs: deps.clock.now() - began, cpuMs: 0 }
    return report('unusable', all(`Their snapshot cannot be restored completely: ${cut(cause.message)}`), usage)
  }
}

/** From now on the sandbox may have newer variables than the snapshot. Throws LeaseLostError when another step changed the container. */
export async function noteAwake(deps: RunDeps, container: Sleeper): Promise<void> {
  const { tenant, id, generation, snapshot } = container
  if ((await deps.table.containers.endRestore(tenant, id, { generation, objectKey: snapshot.objectKey })) === null)
    throw new LeaseLostError(id)
}

/** Errors that every sandbox would repeat. */
const UNUSABLE: ReadonlySet<SupervisorErrorCode> = new Set(['bad_request', 'too_large', 'disk_full', 'protocol'])

const all = (reason: string): readonly Lost[] => [{ what: 'variables', reason }]
const cut = (text: string): string => text.slice(0, MAX_REASON_CHARACTERS).toWellFormed()

/** Names and reasons come from the kernel, so they are treated as text and bounded. */
const named = (lost: readonly { readonly what: string; readonly reason: string }[]): readonly Lost[] =>
  lost.map(({ what, reason }) => ({ what: nameOf(what), reason: REASONS.get(reason) ?? cut(reason) }))

/** Not a variable: `working directory`, `thread waiter`, `magic %hello`, `file /tmp/a.txt`. */
const PROCESS_PART = /^[a-zA-Z.]+ [\w %./()-]+$/

function nameOf(what: string): string {
  if (what === EVERYTHING) return 'variables'
  const name = what.slice(0, MAX_NAME_CHARACTERS).toWellFormed()
  if (PROCESS_PART.test(name)) return name
  return `variable ${IDENTIFIER.test(name) ? name : JSON.stringify(name)}`
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['too_large', `It is among the biggest ones, and ${LIMITS.maxSnapshotBytes} bytes are kept at most.`],
  ['kernel_died', 'The kernel died while no code ran and was restarted.'],
])
