import type { Container } from '../../model/containers/container.ts'
import type { Execution, Lost } from '../../model/executions/execution.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Patch } from '../../ports/leased-store.ts'
import type { SandboxSession } from '../../model/sandboxes/sandbox.ts'
import { truncateLosses } from './truncate-losses.ts'

/** The change that marks a command as `running` in this sandbox. The next execution names the losses of earlier sandboxes. */
export function startCommandPatch(clock: Clock, session: SandboxSession, lost: readonly Lost[]): Patch<Execution> {
  return { status: 'running', startedAt: clock.now(), sandboxId: session.sandboxId, lostBefore: truncateLosses(lost) }
}

/** The change that marks an execution as `running` in this sandbox and names the losses of earlier sandboxes. */
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
