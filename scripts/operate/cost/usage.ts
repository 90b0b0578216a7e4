import type { MemoryTier } from '../../../services/model/limits.ts'

/** How the service is used. Seconds and counts are averages. */
export interface Usage {
  readonly turns: number
  /** Turns in one container, in sequence. */
  readonly turnsPerContainer: number
  /** Run time of the code in a turn. */
  readonly runSeconds: number
  /** Between two turns of a conversation. */
  readonly gapSeconds: number
  /** An unused container is hibernated after this time, and its sandbox stopped. */
  readonly idleSeconds: number
  /** Start time of a sandbox: Fargate bills from the image pull. */
  readonly startSeconds: number
  /** Model time in a turn: two Lambda functions wait for it. */
  readonly modelSeconds: number
  /** Files and results of a turn, MB, and their retention in days. */
  readonly storedMb: number
  readonly storedDays: number
  readonly tier: MemoryTier
  readonly architecture: 'X86_64' | 'ARM64'
  /** vCPUs of a sandbox, if they are not those of the tier. */
  readonly vcpu?: number | undefined
  /** Disk of a sandbox; 20 GiB are free. */
  readonly diskGiB: number
  /** Share of sandboxes on Spot, 0 to 1. */
  readonly spotShare: number
  /** Average cores while code runs, and peak memory in GB: some providers bill by these. */
  readonly cores: number
  readonly memoryGb: number
}

export const TYPICAL: Usage = {
  turns: 1_000,
  turnsPerContainer: 5,
  runSeconds: 2,
  gapSeconds: 60,
  idleSeconds: 300,
  startSeconds: 57,
  modelSeconds: 6,
  storedMb: 0.2,
  storedDays: 30,
  tier: '1g',
  architecture: 'X86_64',
  diskGiB: 20,
  spotShare: 0,
  cores: 0.5,
  memoryGb: 0.5,
}

export interface Line {
  readonly name: string
  readonly usd: number
  readonly how: string
  /** Of an idle month: a setting removes it, or it depends on use. */
  readonly isOptional?: true
}

export const total = (lines: readonly Line[]): number => lines.reduce((sum, { usd }) => sum + usd, 0)
