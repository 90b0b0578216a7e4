import type { Clock } from '../../ports/clock.ts'
import type { ModelCatalogue } from '../../ports/model-catalogue.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Signals } from '../../ports/signals.ts'
import type { Table } from '../../ports/table.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import type { BudgetReader } from '../../operations/tenancy/budget.ts'
import type { ServerTool } from '../../ports/tool.ts'
import type { PriceList } from '../../model/usage/price-list.ts'

export interface TurnDeps {
  readonly table: Table
  readonly queue: Queue
  readonly objects: ObjectStore
  readonly signals: Signals
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly models: ModelCatalogue
  /** Tools of this server besides the interpreter. A request names them by type. */
  readonly tools?: readonly ServerTool[]
  /** Of the platform that sandboxes run on. */
  readonly prices: PriceList
  /** The daily limits; not checked when absent. */
  readonly budget?: BudgetReader
  /** How long a step waits for a job that it submitted, milliseconds; 0 for no wait; by default one second. */
  readonly executionWaitMs?: number
  /** After this time a step hands the turn over to a next message, milliseconds; by default 50 seconds. */
  readonly stepBudgetMs?: number
  /** The process may end this long after it received a message, milliseconds. An answer of the model ends before. Absent: it runs on. */
  readonly stepLimitMs?: number
  /** The name of this process in leases. */
  readonly workerId: string
}
