import type { Container } from '../../model/containers/container.ts'
import { LIMITS, TIERS } from '../../model/limits.ts'
import { sandboxIdOf } from './session.ts'

/** Clients use the features that this version of E2B's daemon has. */
export const ENVD_VERSION = '0.6.4'

/** A sandbox as the control plane describes it. */
export const describe = (container: Container): Readonly<Record<string, unknown>> => ({
  sandboxID: sandboxIdOf(container),
  templateID: container.e2b?.template ?? 'base',
  clientID: 'cellblock',
  metadata: container.e2b?.metadata ?? {},
  startedAt: new Date(container.createdAt).toISOString(),
  endAt: new Date(container.e2b?.endAt ?? container.lastActiveAt + LIMITS.hibernateAfterMinutes * 60_000).toISOString(),
  state: stateOf(container),
  cpuCount: 1,
  memoryMB: TIERS[container.memoryTier].memoryBytes / 1024 ** 2,
  diskSizeMB: TIERS[container.memoryTier].memoryBytes / 1024 ** 2,
  envdVersion: ENVD_VERSION,
  lifecycle: { onTimeout: container.e2b?.onTimeout ?? 'pause', autoResume: container.e2b?.autoResume ?? true },
})

/** An idle container has no sandbox until its next call, which wakes it: for clients it runs. */
export const stateOf = (container: Container): 'running' | 'paused' => (container.e2b?.isPaused === true ? 'paused' : 'running')
