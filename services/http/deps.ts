import type { BudgetReader } from '../operations/tenancy/budget.ts'
import type { RequestLimiter } from '../operations/tenancy/request-limiter.ts'
import type { Caller } from '../model/tenants/tenant.ts'
import type { Container } from '../model/containers/container.ts'
import type { ImageCatalogue } from '../model/containers/images.ts'
import type { LimitReader } from '../operations/tenancy/limit-reader.ts'
import type { ResourceCounts } from '../operations/tenancy/resource-counts.ts'
import type { Clock } from '../ports/clock.ts'
import type { NetworkPorts } from '../ports/network-gateway.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Queue } from '../ports/queue.ts'
import type { Signals } from '../ports/signals.ts'
import type { Table } from '../ports/table.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { PriceList } from '../model/usage/price-list.ts'
import type { ApiConfig } from './config.ts'
import type { PublishedPorts } from '../operations/containers/published-ports.ts'
import type { ResultBudget } from '../operations/executions/result-budget.ts'
import type { PagePorts } from './page-ports.ts'
import type { AuditLog } from '../operations/audit/audit-log.ts'
import type { KeptDocuments } from './kept-documents.ts'
import type { RoundRobin } from './round-robin.ts'
import type { BytePool } from './connection-budget.ts'
import type { SocketAdmissions } from './socket-admissions.ts'
import type { Holds } from '../operations/tenancy/hold.ts'

export interface ModelEntry {
  readonly id: string
  /** Epoch ms. */
  readonly createdAt: number
  readonly ownedBy: string
  /** Whether it sees pictures; null where the API does not know. */
  readonly readsImages: boolean | null
}

export interface Readiness {
  readonly ok: boolean
  readonly parts: Readonly<Record<string, { readonly ok: boolean; readonly detail?: string }>>
}

/** The dependencies of the HTTP edge that an entry file provides. */
export interface ApiPorts {
  readonly table: Table
  readonly queue: Queue
  readonly objects: ObjectStore
  readonly signals: Signals
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly models: { list(): readonly ModelEntry[]; has(id: string): boolean }
  /** Names of this server's tools in requests, besides the interpreter and functions: of each its type, then its aliases. */
  readonly toolTypes: readonly (readonly string[])[]
  /** The images that containers may name. */
  readonly images: Pick<ImageCatalogue, 'defaultName' | 'names' | 'has' | 'resolve'>
  /** Whether the platform can keep the processes of an idle sandbox; absent: it cannot. */
  readonly canSuspend?: boolean
  /** Of the platform that sandboxes run on. */
  readonly prices: PriceList
  readonly readiness: () => Promise<Readiness>
  readonly config: ApiConfig
  /** The caller of every request, for an application that only the operator of its storage reaches; absent: the caller that the key names. */
  readonly implicitCaller?: Caller
  /** The gateway through which code reaches hosts; undefined: sandboxes have no network. */
  readonly network?: NetworkPorts
  /** Ports of sandboxes, each on its own origin below the domain; undefined: this server has none. */
  readonly webPorts?: {
    readonly domain: string
    readonly published: Pick<PublishedPorts, 'publish' | 'list' | 'unpublish'>
    /** Ports on which programs of a container listen; none while it has no sandbox. */
    readonly listening: (container: Container) => Promise<readonly number[]>
  }
  /** The script of the API reference. Default: that of the installed package. */
  readonly readReference?: () => Promise<Awaited<ReturnType<ObjectStore['get']>>>
  /** The playground and its sessions; undefined without a playground. */
  readonly page?: PagePorts
  /** The connections that the server upgrades to WebSocket; undefined where it cannot. */
  readonly sockets?: Pick<SocketAdmissions, 'admit' | 'admitUnknown' | 'identify' | 'isOwn'>
}

/** All dependencies of the HTTP edge. Its only state is a cache of verified keys, the open calls and the results in memory. */
export interface ApiDeps extends ApiPorts {
  /** The calls that stay open. */
  readonly holds: Holds
  /** Where requests wait before they begin, by tenant. */
  readonly arrivals: RoundRobin
  /** Documents for browsers and programs, the same for all clients. */
  readonly documents: KeptDocuments
  /** Request bodies and answers in memory, by tenant. */
  readonly bodies: BytePool
  readonly answers: BytePool
  /** The results that a call holds; outside of a call, those of the process. */
  readonly results: ResultBudget
  /** The limits of each tenant. */
  readonly limits: LimitReader
  readonly requests: RequestLimiter
  /** What each tenant has of the resources with a limit. */
  readonly counts: ResourceCounts
  /** The remaining daily budget of each tenant. */
  readonly budget: BudgetReader
  readonly audit: AuditLog
}
