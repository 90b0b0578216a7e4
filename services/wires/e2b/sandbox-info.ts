import type { Container } from '../../model/containers/container.ts'
import { LIMITS, TIERS } from '../../model/limits.ts'
import { describeNetwork } from './network.ts'
import { labelOf as sandboxIdOf } from '../../model/containers/container-label.ts'
import { isPaused, sessionOf } from './session.ts'

/** Clients use the features that this version of E2B's daemon has. */
export const ENVD_VERSION = '0.6.4'

/** A sandbox as the control plane describes it. */
export function describe(container: Container, now: number): Readonly<Record<string, unknown>> {
  const session = sessionOf(container)
  return {
    sandboxID: sandboxIdOf(container),
    templateID: session?.template ?? 'base',
    clientID: 'cellblock',
    metadata: session?.metadata ?? {},
    startedAt: new Date(container.createdAt).toISOString(),
    endAt: new Date(session?.endAt ?? container.lastActiveAt + LIMITS.hibernateAfterMinutes * 60_000).toISOString(),
    state: stateOf(container, now),
    cpuCount: 1,
    memoryMB: TIERS[container.memoryTier].memoryBytes / 1024 ** 2,
    diskSizeMB: TIERS[container.memoryTier].memoryBytes / 1024 ** 2,
    envdVersion: ENVD_VERSION,
    ...describeNetwork(container),
    lifecycle: { onTimeout: session?.onTimeout ?? 'pause', autoResume: session?.autoResume ?? true },
  }
}

/** An idle container has no sandbox until its next call, which wakes it: for clients it runs. */
export function stateOf(container: Container, now: number): 'running' | 'paused' {
  const session = sessionOf(container)
  return session !== undefined && isPaused(session, now) ? 'paused' : 'running'
}
