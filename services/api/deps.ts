import type { McpServer, ServerOptions } from '@modelcontextprotocol/server'
import type { BudgetReader } from '../core/tenants/budget.ts'
import type { RequestLimiter } from '../core/tenants/request-limiter.ts'
import type { ImageCatalogue } from '../core/containers/images.ts'
import type { LimitReader } from '../core/tenants/limit-reader.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { ObjectStore } from '../core/ports/object-store.ts'
import type { Queue } from '../core/ports/queue.ts'
import type { Signals } from '../core/ports/signals.ts'
import type { Table } from '../core/ports/table.ts'
import type { Telemetry } from '../core/ports/telemetry.ts'
import type { ApiConfig } from './config.ts'
import type { ResultBudget } from './executions/result-budget.ts'
import type { PagePorts } from './page/ports.ts'
import type { StreamSlots } from './http/stream-slots.ts'

export interface ModelEntry {
  readonly id: string
  /** Epoch ms. */
  readonly createdAt: number
  readonly ownedBy: string
}

export interface Readiness {
  readonly ok: boolean
  readonly parts: Readonly<Record<string, { readonly ok: boolean; readonly detail?: string }>>
}

/** What MCP's conformance suite needs on the handler that it tests. */
export interface McpFixtures {
  readonly options: Pick<ServerOptions, 'requestState' | 'capabilities'>
  readonly register: (server: McpServer) => void
}

/** What an entry file gives the HTTP edge. */
export interface ApiPorts {
  readonly table: Table
  readonly queue: Queue
  readonly objects: ObjectStore
  readonly signals: Signals
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly models: { list(): readonly ModelEntry[]; has(id: string): boolean }
  /** What requests may name this server's tools by, besides the interpreter and functions: of each its type, then other words for it. */
  readonly toolTypes: readonly (readonly string[])[]
  /** The images that containers may name. */
  readonly images: Pick<ImageCatalogue, 'defaultName' | 'names' | 'has' | 'resolve'>
  readonly readiness: () => Promise<Readiness>
  readonly config: ApiConfig
  /** Test mode only: adds the tools, prompts and resources that MCP's conformance suite calls, and lets calls without a key list and call them. */
  readonly mcpFixtures?: McpFixtures
  /** The playground and its sessions. Undefined: this server has none. */
  readonly page?: PagePorts
}

/** Everything the HTTP edge works with. Its only state is a small cache of verified keys, the open streams and the results in memory. */
export interface ApiDeps extends ApiPorts {
  readonly streams: StreamSlots
  readonly results: ResultBudget
  /** What each tenant may use. */
  readonly limits: LimitReader
  readonly requests: RequestLimiter
  /** What each tenant may still use today. */
  readonly budget: BudgetReader
}
