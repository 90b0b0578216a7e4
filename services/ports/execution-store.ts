import type { Execution } from '../model/executions/execution.ts'
import type { WorkKindName } from '../model/executions/work-kinds.ts'
import type { LeasedStore } from './leased-store.ts'
import type { Page, PageRequest } from '../model/page.ts'

export interface ExecutionStore extends LeasedStore<Execution> {
  /** Rows of one kind of work; executions without `kind`. */
  listByContainer(tenant: string, containerId: string, page: PageRequest & { readonly kind?: WorkKindName }): Promise<Page<Execution>>
}
