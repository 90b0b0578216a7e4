/**
 * The usage of one execution, of saving a container's variables, of a turn, or of one sandbox on one day. Exactly one record exists of each, because its
 * key is its id. Sandbox seconds and their cost are in the records of sandboxes only; those of older versions are in the records of executions.
 */
export interface UsageRecord {
  readonly v: 1
  readonly tenant: string
  readonly subject: string | null
  /** For a saving: the random part of the snapshot's object key. For a turn: the id of the response. For a sandbox: its id. For network: of requests of one container. */
  readonly executionId: string
  /** Absent for an execution. */
  readonly purpose?: 'saving' | 'turn' | 'sandbox' | 'network'
  /** The UTC day on which the execution was accepted, or the sandbox was held, `YYYY-MM-DD`. */
  readonly day: string
  readonly sandboxSeconds: number
  readonly cpuMs: number
  readonly peakMemoryBytes: number
  readonly outputBytes: number
  /** An estimate by list prices; 0 for Docker sandboxes. */
  readonly costUsd: number
  /** Tokens of models, for a turn only. */
  readonly modelInputTokens?: number
  readonly modelOutputTokens?: number
  /** Requests of code to hosts, how many of them were refused, and their bytes in both directions; for network only. */
  readonly networkRequests?: number
  readonly networkRefused?: number
  readonly networkBytes?: number
}

export interface UsageSum {
  /** Executions only. */
  readonly executions: number
  readonly sandboxSeconds: number
  readonly cpuMs: number
  /** The maximum over the executions. */
  readonly peakMemoryBytes: number
  readonly outputBytes: number
  readonly costUsd: number
  readonly modelInputTokens: number
  readonly modelOutputTokens: number
  readonly networkRequests: number
  readonly networkRefused: number
  readonly networkBytes: number
}

const NOTHING: UsageSum = {
  executions: 0,
  sandboxSeconds: 0,
  cpuMs: 0,
  peakMemoryBytes: 0,
  outputBytes: 0,
  costUsd: 0,
  modelInputTokens: 0,
  modelOutputTokens: 0,
  networkRequests: 0,
  networkRefused: 0,
  networkBytes: 0,
}

export const sumUsage = (records: readonly UsageRecord[]): UsageSum =>
  records.reduce(
    (sum, record) => ({
      executions: sum.executions + (record.purpose === undefined ? 1 : 0),
      sandboxSeconds: sum.sandboxSeconds + record.sandboxSeconds,
      cpuMs: sum.cpuMs + record.cpuMs,
      peakMemoryBytes: Math.max(sum.peakMemoryBytes, record.peakMemoryBytes),
      outputBytes: sum.outputBytes + record.outputBytes,
      costUsd: sum.costUsd + record.costUsd,
      modelInputTokens: sum.modelInputTokens + (record.modelInputTokens ?? 0),
      modelOutputTokens: sum.modelOutputTokens + (record.modelOutputTokens ?? 0),
      networkRequests: sum.networkRequests + (record.networkRequests ?? 0),
      networkRefused: sum.networkRefused + (record.networkRefused ?? 0),
      networkBytes: sum.networkBytes + (record.networkBytes ?? 0),
    }),
    NOTHING,
  )

/** The UTC day of a time in epoch ms. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
