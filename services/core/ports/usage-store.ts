import type { UsageRecord } from '../usage/usage.ts'

export interface UsageStore {
  /** Under the execution's id: a second time replaces the first. */
  put(record: UsageRecord): Promise<void>
  /** Every record of a day, `YYYY-MM-DD`. Consistent. */
  ofDay(tenant: string, day: string): Promise<readonly UsageRecord[]>
}
