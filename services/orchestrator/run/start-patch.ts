import type { Container } from '../../core/containers/container.ts'
import type { Execution, Lost } from '../../core/executions/execution.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Patch } from '../../core/ports/leased-store.ts'
import type { SandboxSession } from '../../core/sandboxes/sandbox.ts'
import { truncateLosses } from './truncate-losses.ts'

/** What makes a command `running` in this sandbox. What earlier sandboxes lost is for the next execution to name. */
export function startCommandPatch(clock: Clock, session: SandboxSession, lost: readonly Lost[]): Patch<Execution> {
  return { status: 'running', startedAt: clock.now(), sandboxId: session.sandboxId, lostBefore: truncateLosses(lost) }
}

/** What makes an execution `running` in this sandbox, and names what earlier sandboxes lost. */
export function startPatch(clock: Clock, container: Container, session: SandboxSession, lost: readonly Lost[]): Patch<Execution> {
  const lostCommands = container.lostCommands ?? []
  const variables = container.stateLost === null ? [] : [{ what: 'variables', reason: container.stateLost }]
  return {
    status: 'running',
    startedAt: clock.now(),
    sandboxId: session.sandboxId,
    lostBefore: [...variables, ...lostCommands, ...truncateLosses(lost)],
  }
}
