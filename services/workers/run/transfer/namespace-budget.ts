import type { NamespaceBudget } from '../../../ports/supervisor.ts'
import { DEFAULT_LIMITS, executionLimitsOf } from '../../../model/tenants/tenant-limits.ts'

type Limits = Parameters<typeof executionLimitsOf>

/** Saving and restoring variables runs user code, so it has the limits of an execution. */
export function namespaceBudget(tenant: Limits[0], container: Limits[1], timeoutSeconds = tenant.timeoutSeconds): NamespaceBudget {
  const { cpuSeconds } = executionLimitsOf(tenant, container)
  return {
    timeoutMs: Math.min(timeoutSeconds, tenant.timeoutSeconds) * 1000,
    ...(cpuSeconds < DEFAULT_LIMITS.cpuSeconds && { cpuMs: cpuSeconds * 1000 }),
  }
}
