import { LIMITS, MEMORY_TIERS, type MemoryTier } from '../limits.ts'

const MiB = 1024 * 1024
const GiB = 1024 * MiB

interface Range {
  readonly unit: 'seconds' | 'days' | 'bytes' | 'count'
  /** The value for a tenant without a setting. */
  readonly default: number
  /** Range of values that an operator may set. */
  readonly min: number
  readonly max: number
}

/** Limits that an operator sets for a tenant, by scope. A container may request lower limits for its executions and its sandbox. */
export const EXECUTION_LIMITS = {
  /** Processor time of all processes in the sandbox during an execution. The default exceeds what the largest sandbox can use in the longest time. */
  cpuSeconds: { unit: 'seconds', default: 86_400, min: 1, max: 86_400 },
  /** All printed and displayed output; the execution ends beyond it. Separate limits apply to the part that is stored. */
  outputBytes: { unit: 'bytes', default: 1024 * GiB, min: 1024, max: 1024 * GiB },
  /** Displays that are stored; the result reports the number of others. */
  displays: { unit: 'count', default: 5_000, min: 1, max: 5_000 },
  /** Files that one execution returns; `lost` names the others. */
  filesPerExecution: { unit: 'count', default: LIMITS.maxFilesPerExecution, min: 1, max: LIMITS.maxFilesPerExecution },
} as const satisfies Record<string, Range>

export const SANDBOX_LIMITS = {
  /** Processes and threads, including the supervisor's. */
  processes: { unit: 'count', default: 256, min: 32, max: 4_096 },
  /** Open files of one process. */
  openFiles: { unit: 'count', default: 1_024, min: 64, max: 65_536 },
  /** One file. */
  fileBytes: { unit: 'bytes', default: LIMITS.maxFileBytes, min: MiB, max: LIMITS.maxFileBytes },
  /** All of `/mnt/data`, and how many files and folders it may hold. */
  diskBytes: { unit: 'bytes', default: GiB, min: 16 * MiB, max: 64 * GiB },
  inodes: { unit: 'count', default: 200_000, min: 1_000, max: 4_000_000 },
} as const satisfies Record<string, Range>

export const ACCOUNT_LIMITS = {
  /** The longest time limit that a request may set. */
  timeoutSeconds: { unit: 'seconds', default: LIMITS.maxTimeoutSeconds, min: 1, max: LIMITS.maxTimeoutSeconds },
  /** Requests per second with any key of the tenant, over all processes; bursts of two seconds pass. */
  requestsPerSecond: { unit: 'count', default: 1_000, min: 1, max: 100_000 },
  /** Executions that run at the same time; others wait in the order of their acceptance. */
  concurrentExecutions: { unit: 'count', default: 100, min: 1, max: 2_000 },
  /** Event streams that one process holds open for the tenant. */
  openStreams: { unit: 'count', default: 500, min: 1, max: 100_000 },
  /**
   * Maximum use of one UTC day: sandbox seconds, US dollars at list prices, and tokens of models. The default of one tenant for a month is below the budget that a
   * new deployment announces, 100 US dollars.
   */
  sandboxSecondsPerDay: { unit: 'seconds', default: 2_000_000, min: 1, max: 1_000_000_000 },
  dollarsPerDay: { unit: 'count', default: 3, min: 1, max: 1_000_000 },
  modelTokensPerDay: { unit: 'count', default: 100_000_000, min: 1, max: 1_000_000_000_000 },
  /** Connections that code of all containers has open through the gateway, and requests that it begins per second. */
  networkConnections: { unit: 'count', default: 100, min: 1, max: 10_000 },
  networkRequestsPerSecond: { unit: 'count', default: 100, min: 1, max: 10_000 },
  /** Bytes that code of all containers sends and receives in one UTC day. */
  networkBytesPerDay: { unit: 'bytes', default: 10 * GiB, min: MiB, max: 1024 * 1024 * GiB },
  /** Ports of all containers that are published, and connections that their visitors have open. */
  publishedPorts: { unit: 'count', default: 20, min: 1, max: 500 },
  portConnections: { unit: 'count', default: 100, min: 1, max: 1_000 },
  /** Containers that have a sandbox at the same time. */
  liveContainers: { unit: 'count', default: 1_000, min: 1, max: 10_000 },
  /** Containers that are not deleted, with and without a sandbox. */
  containers: { unit: 'count', default: 100_000, min: 1, max: 10_000_000 },
  /** Executions and commands that were accepted and have not ended. */
  queuedJobs: { unit: 'count', default: 10_000, min: 1, max: 1_000_000 },
  /** All stored bytes: files and their former versions, saved variables, outputs, events, and the rows of everything that is listed or read by id. */
  storageBytes: { unit: 'bytes', default: 100 * GiB, min: MiB, max: 1024 * 1024 * GiB },
} as const satisfies Record<string, Range>

const MAX_DAYS = 3_650

/** How long data is kept, days. A shorter time applies to existing data within seven days. */
export const RETENTION_LIMITS = {
  /** A container with its files and variables, and former versions of files, after their last use. */
  containerDays: { unit: 'days', default: LIMITS.retentionDays, min: 1, max: MAX_DAYS },
  /** Executions and commands with their code, results and events, after their end; at most as long as their container. */
  executionDays: { unit: 'days', default: MAX_DAYS, min: 1, max: MAX_DAYS },
  /** Responses with their input and events, after their end. */
  responseDays: { unit: 'days', default: LIMITS.responseDays, min: 1, max: MAX_DAYS },
  /** Conversations, after their last item. */
  conversationDays: { unit: 'days', default: MAX_DAYS, min: 1, max: MAX_DAYS },
  /** Files of `/v1/files`, after their upload. */
  fileDays: { unit: 'days', default: MAX_DAYS, min: 1, max: MAX_DAYS },
  /** Skills, after their latest version. */
  skillDays: { unit: 'days', default: MAX_DAYS, min: 1, max: MAX_DAYS },
} as const satisfies Record<string, Range>

export type ExecutionLimits = { readonly [Name in keyof typeof EXECUTION_LIMITS]: number }
export type SandboxLimits = { readonly [Name in keyof typeof SANDBOX_LIMITS]: number }
type AccountLimits = { readonly [Name in keyof typeof ACCOUNT_LIMITS]: number }
type RetentionLimits = { readonly [Name in keyof typeof RETENTION_LIMITS]: number }

export const NUMERIC_LIMITS: Readonly<Record<string, Range>> = {
  ...ACCOUNT_LIMITS,
  ...RETENTION_LIMITS,
  ...EXECUTION_LIMITS,
  ...SANDBOX_LIMITS,
}

/** All limits of one tenant. */
export interface TenantLimits extends AccountLimits, RetentionLimits, ExecutionLimits, SandboxLimits {
  readonly memoryLimit: MemoryTier
}

/** Limits that a client requested for one container; null means the tenant's. */
export type ContainerLimits = Partial<ExecutionLimits & SandboxLimits>

const defaultsOf = <Ranges extends Readonly<Record<string, Range>>>(ranges: Ranges) =>
  Object.fromEntries(Object.entries(ranges).map(([name, range]) => [name, range.default])) as { readonly [Name in keyof Ranges]: number }

export const DEFAULT_SANDBOX: SandboxLimits = defaultsOf(SANDBOX_LIMITS)
export const DEFAULT_LIMITS: TenantLimits = {
  ...defaultsOf(ACCOUNT_LIMITS),
  ...defaultsOf(RETENTION_LIMITS),
  ...defaultsOf(EXECUTION_LIMITS),
  ...DEFAULT_SANDBOX,
  memoryLimit: '64g',
}

/**
 * Limits of a tenant without a setting where the API runs in functions, `functions` of them together (null: in processes): they replace
 * DEFAULT_LIMITS. A function serves one call at a time and starts within about a second, so at this rate the calls of one tenant hold at most a third of the
 * functions, even while each of them starts a new one (`npm run simulate`, departing clients).
 */
export const defaultsFor = (functions: number | null): Partial<TenantLimits> =>
  functions === null ? {} : { requestsPerSecond: Math.min(DEFAULT_LIMITS.requestsPerSecond, Math.ceil(functions / 3)) }

export const limitsOf = (policy: Partial<TenantLimits> | undefined): TenantLimits => ({ ...DEFAULT_LIMITS, ...policy })

/** The minimum of the tenant's and the container's limits: a lowered policy applies to existing containers too. */
export function executionLimitsOf(tenant: TenantLimits, asked: ContainerLimits | null): ExecutionLimits {
  return minimumOf(EXECUTION_LIMITS, tenant, asked)
}

/** Null for the limits of every sandbox in the warm pool. */
export function sandboxLimitsOf(tenant: TenantLimits, asked: ContainerLimits | null): SandboxLimits | null {
  const limits = minimumOf(SANDBOX_LIMITS, tenant, asked)
  const isDefault = Object.entries(DEFAULT_SANDBOX).every(([name, value]) => limits[name as keyof SandboxLimits] === value)
  return isDefault ? null : limits
}

function minimumOf<Name extends keyof (ExecutionLimits & SandboxLimits)>(
  ranges: Readonly<Record<Name, Range>>,
  tenant: TenantLimits,
  asked: ContainerLimits | null,
): Readonly<Record<Name, number>> {
  const names = Object.keys(ranges) as Name[]
  return Object.fromEntries(names.map((name) => [name, Math.min(tenant[name], asked?.[name] ?? tenant[name])])) as Record<Name, number>
}

/** Whether a tier is larger than another. */
export const isBiggerTier = (tier: MemoryTier, than: MemoryTier): boolean => MEMORY_TIERS.indexOf(tier) > MEMORY_TIERS.indexOf(than)
