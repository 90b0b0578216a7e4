import type { SandboxSession } from '../../../model/sandboxes/sandbox.ts'
import type { NamespaceBudget } from '../../../ports/supervisor.ts'
import { DEFAULT_LIMITS, executionLimitsOf } from '../../../model/tenants/tenant-limits.ts'

/** Variables on their way from or to a sandbox. */
export interface NamespaceTransfer {
  readonly session: SandboxSession
  readonly budget: NamespaceBudget
  readonly signal: AbortSignal
}

type Limits = Parameters<typeof executionLimitsOf>

/** Saving and restoring variables runs user code, so it has the limits of an execution. */
export function namespaceBudget(tenant: Limits[0], container: Limits[1], timeoutSeconds = tenant.timeoutSeconds): NamespaceBudget {
  const { cpuSeconds } = executionLimitsOf(tenant, container)
  return {
    timeoutMs: Math.min(timeoutSeconds, tenant.timeoutSeconds) * 1000,
    ...(cpuSeconds < DEFAULT_LIMITS.cpuSeconds && { cpuMs: cpuSeconds * 1000 }),
  }
}
