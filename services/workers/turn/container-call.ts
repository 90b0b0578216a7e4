import type { Execution } from '../../model/executions/execution.ts'
import type { PendingCall, ResponseRequest } from '../../model/responses/response.ts'
import type { ResponseItem } from '../../model/responses/items/item-types.ts'
import type { Rejection, Tool } from '../../ports/tool.ts'
import type { TurnDeps } from './deps.ts'
import type { TurnChange, TurnView } from './turn-state.ts'

/** The end of a job, or why it did not run. */
export type JobEnd = { readonly execution: Execution } | { readonly rejection: Rejection }

/** A call and its `output_index`. */
export interface IndexedCall<Item extends ResponseItem> {
  readonly index: number
  readonly item: Item
}

/** How the calls of one item type run in the container. `pending-job.ts` runs their jobs; a type says what each step records. */
export interface ContainerCall<Item extends ResponseItem> {
  readonly type: Item['type']
  toolOf(request: Pick<ResponseRequest, 'tools'>): Tool
  argumentsOf(item: Item): Readonly<Record<string, unknown>>
  /** Records that the call begins. `outputIndex`: the item that shows what its jobs print. */
  begin(view: TurnView, call: IndexedCall<Item>): { readonly change: TurnChange; readonly outputIndex: number }
  /** Records that nothing of the call runs. */
  reject(view: TurnView, call: IndexedCall<Item>, rejection: Rejection): TurnChange
  /** Records the end of one job. `isLast`: the call has ended. */
  record(deps: TurnDeps, view: TurnView, end: JobEnd & { readonly pending: PendingCall; readonly isLast: boolean }): Promise<TurnChange>
}

/** The item at `index`, which has this type. */
export function itemOfType<Type extends ResponseItem['type']>(
  { state: { items } }: Pick<TurnView, 'state'>,
  index: number,
  type: Type,
): Extract<ResponseItem, { readonly type: Type }> {
  const item = items[index]
  if (item?.type !== type) throw new Error(`The item at ${index} is no ${type}`)
  return item as Extract<ResponseItem, { readonly type: Type }>
}
