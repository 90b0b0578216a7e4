import { LIMITS, MEMORY_TIERS, type MemoryTier } from '../limits.ts'

const MiB = 1024 * 1024
const GiB = 1024 * MiB

interface Range {
  readonly unit: 'seconds' | 'bytes' | 'count'
  /** What holds for a tenant of which nothing is said. */
  readonly usual: number
  /** What an operator may say. */
  readonly least: number
  readonly most: number
}

/** Limits that an operator sets for a tenant, by scope. A container may ask for less of those of an execution and of its sandbox. */
export const EXECUTION_LIMITS = {
  /** Processor time of everything in the sandbox while an execution runs. The usual is more than the largest sandbox can use in the longest time. */
  cpuSeconds: { unit: 'seconds', usual: 86_400, least: 1, most: 86_400 },
  /** Everything that is printed and shown; past it the execution ends. What is kept of it is bounded besides. */
  outputBytes: { unit: 'bytes', usual: 1024 * GiB, least: 1024, most: 1024 * GiB },
  /** Displays that are kept; those beyond are counted and told. */
  displays: { unit: 'count', usual: 5_000, least: 1, most: 5_000 },
  /** Files that one execution hands back; the rest is told. */
  filesPerExecution: { unit: 'count', usual: LIMITS.maxFilesPerExecution, least: 1, most: LIMITS.maxFilesPerExecution },
} as const satisfies Record<string, Range>

export const SANDBOX_LIMITS = {
  /** Processes and threads, the supervisor's own among them. */
  processes: { unit: 'count', usual: 256, least: 32, most: 4_096 },
  /** Open files of one process. */
  openFiles: { unit: 'count', usual: 1_024, least: 64, most: 65_536 },
  /** One file. */
  fileBytes: { unit: 'bytes', usual: LIMITS.maxFileBytes, least: MiB, most: LIMITS.maxFileBytes },
  /** All of `/mnt/data`, and how many files and folders it may hold. */
  diskBytes: { unit: 'bytes', usual: GiB, least: 16 * MiB, most: 64 * GiB },
  inodes: { unit: 'count', usual: 200_000, least: 1_000, most: 4_000_000 },
} as const satisfies Record<string, Range>

export const ACCOUNT_LIMITS = {
  /** The longest time limit that a call may ask for. */
  timeoutSeconds: { unit: 'seconds', usual: LIMITS.maxTimeoutSeconds, least: 1, most: LIMITS.maxTimeoutSeconds },
  /** Containers that have a sandbox at once; the usual number stands for no limit of its own. */
  liveContainers: { unit: 'count', usual: 10_000, least: 1, most: 10_000 },
} as const satisfies Record<string, Range>

export type ExecutionLimits = { readonly [Name in keyof typeof EXECUTION_LIMITS]: number }
export type SandboxLimits = { readonly [Name in keyof typeof SANDBOX_LIMITS]: number }
type AccountLimits = { readonly [Name in keyof typeof ACCOUNT_LIMITS]: number }

export const NUMERIC_LIMITS: Readonly<Record<string, Range>> = { ...ACCOUNT_LIMITS, ...EXECUTION_LIMITS, ...SANDBOX_LIMITS }

/** Everything that holds for one tenant. */
export interface TenantLimits extends AccountLimits, ExecutionLimits, SandboxLimits {
  readonly memoryLimit: MemoryTier
}

/** What one container asked for; null is what its tenant has. */
export type ContainerLimits = Partial<ExecutionLimits & SandboxLimits>

const usual = <Ranges extends Readonly<Record<string, Range>>>(ranges: Ranges) =>
  Object.fromEntries(Object.entries(ranges).map(([name, range]) => [name, range.usual])) as { readonly [Name in keyof Ranges]: number }

export const USUAL_SANDBOX: SandboxLimits = usual(SANDBOX_LIMITS)
export const USUAL_LIMITS: TenantLimits = {
  ...usual(ACCOUNT_LIMITS),
  ...usual(EXECUTION_LIMITS),
  ...USUAL_SANDBOX,
  memoryLimit: '64g',
}

export const limitsOf = (policy: Partial<TenantLimits> | undefined): TenantLimits => ({ ...USUAL_LIMITS, ...policy })

/** The less of what the tenant has and what the container asked for: a policy that was lowered since holds for old containers too. */
export function executionLimitsOf(tenant: TenantLimits, asked: ContainerLimits | null): ExecutionLimits {
  return least(EXECUTION_LIMITS, tenant, asked)
}

/** Null when it is what every sandbox of the warm pool has. */
export function sandboxLimitsOf(tenant: TenantLimits, asked: ContainerLimits | null): SandboxLimits | null {
  const limits = least(SANDBOX_LIMITS, tenant, asked)
  const isUsual = Object.entries(USUAL_SANDBOX).every(([name, value]) => limits[name as keyof SandboxLimits] === value)
  return isUsual ? null : limits
}

function least<Name extends keyof (ExecutionLimits & SandboxLimits)>(
  ranges: Readonly<Record<Name, Range>>,
  tenant: TenantLimits,
  asked: ContainerLimits | null,
): Readonly<Record<Name, number>> {
  const names = Object.keys(ranges) as Name[]
  return Object.fromEntries(names.map((name) => [name, Math.min(tenant[name], asked?.[name] ?? tenant[name])])) as Record<Name, number>
}

/** Whether a tier is above another. */
export const isBiggerTier = (tier: MemoryTier, than: MemoryTier): boolean => MEMORY_TIERS.indexOf(tier) > MEMORY_TIERS.indexOf(than)

/** `cpuSeconds` as the wire and the command line write it: `cpu_seconds`. */
export const limitName = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
