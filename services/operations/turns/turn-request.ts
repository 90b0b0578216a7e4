import type { ClaimedId } from '../claimed-id.ts'
import type { WantedSkill } from '../skills/resolve-skills.ts'
import type { BudgetReader } from '../tenancy/budget.ts'
import type { LimitReader } from '../tenancy/limit-reader.ts'
import type { WantedNetwork } from '../network/new-policy.ts'
import type { NetworkPorts } from '../../ports/network-gateway.ts'
import type { MemoryTier } from '../../model/limits.ts'
import type { ResponseRequest } from '../../model/responses/response.ts'
import type { Caller } from '../../model/tenants/tenant.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Table } from '../../ports/table.ts'

/** Where the code or the commands of a turn run. `param` names this part of the request in errors. */
export type WantedContainer =
  | { readonly kind: 'named'; readonly containerId: string; readonly param: string }
  /** A container of an earlier turn, or a new one. */
  | {
      readonly kind: 'auto'
      readonly memoryTier: MemoryTier
      readonly fileIds: readonly string[]
      readonly skills: readonly WantedSkill[]
      /** Absent: the container keeps what it may reach, and a new one gets the tenant's default. */
      readonly network?: WantedNetwork
      readonly param: string
    }

/** A turn as a wire requests it, in the terms of OpenAI's Responses: `param` of an error names a field there. */
export interface TurnRequest {
  readonly caller: Caller
  /** The id that the turn gets. */
  readonly claimed: ClaimedId
  /** The schema of the wire has checked the forms, and nothing else is checked yet. */
  readonly request: Omit<ResponseRequest, 'interpreter'>
  /** Where code runs; null without the tool code_interpreter. */
  readonly interpreter: WantedContainer | null
  /** Where commands run; null without the tool shell, or when the caller runs them. */
  readonly shell: WantedContainer | null
  readonly previousResponseId: string | null
  readonly conversationId: string | null
  readonly publicUrl: string
  /** Whether the turn may continue this response although it is not stored: its connection made it. */
  readonly ownsUnstored?: (responseId: string) => boolean
}

export interface TurnPorts {
  readonly table: Table
  readonly objects: ObjectStore
  readonly clock: Clock
  readonly models: { list(): readonly { readonly id: string }[]; has(id: string): boolean }
  /** Names of this server's tools in requests: of each its type, then its aliases. */
  readonly toolTypes: readonly (readonly string[])[]
  readonly limits: LimitReader
  readonly budget: Pick<BudgetReader, 'checkModel'>
  readonly network?: NetworkPorts
  readonly config: { readonly memoryTiers: readonly MemoryTier[] }
}
