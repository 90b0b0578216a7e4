import type { Execution } from '../model/executions/execution.ts'
import type { LeasedStore } from './leased-store.ts'
import type { Page, PageRequest } from '../model/page.ts'

export interface ExecutionStore extends LeasedStore<Execution> {
  /** Without commands. */
  listByContainer(tenant: string, containerId: string, page: PageRequest): Promise<Page<Execution>>
  listCommands(tenant: string, containerId: string, page: PageRequest): Promise<Page<Execution>>
}
