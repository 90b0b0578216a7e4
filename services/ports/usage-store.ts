import type { UsageRecord } from '../model/usage/usage.ts'

export interface UsageStore {
  /** Stores the record under its id; a repetition replaces it. */
  put(record: UsageRecord): Promise<void>
  /** Every record of a day, `YYYY-MM-DD`. Consistent. */
  ofDay(tenant: string, day: string): Promise<readonly UsageRecord[]>
}
