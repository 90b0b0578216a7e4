import type { Container } from '../../../../services/model/containers/container.ts'
import { hasEnded, type Execution } from '../../../../services/model/executions/execution.ts'
import type { Sandbox } from '../../../../services/model/sandboxes/sandbox.ts'
import type { ItemKey } from '../../../../services/adapters/storage/rows/keys.ts'
import type { Item } from '../../../../services/adapters/storage/rows/row-codec.ts'
import { containerCodec, executionCodec, sandboxCodec } from '../../../../services/adapters/storage/rows/row-shapes.ts'
import type { History } from '../../history.ts'

/** Adds an accepted write to the history, if it is a row of a job, a container or a sandbox. `item`: the whole item after the write. */
export function recordItem(history: History, { pk, sk }: ItemKey, item: Item): void {
  const kind = pk.split('#')[2]
  if (kind === 'execution' && sk === 'row') addExecution(history, executionCodec.decode(item))
  else if (kind === 'execution') addBatch(history, pk, item)
  else if (kind === 'container' && sk === 'row') addContainer(history, containerCodec.decode(item))
  else if (kind === 'sandbox') addSandbox(history, sandboxCodec.decode(item))
}

function addExecution(history: History, row: Execution): void {
  const { tenant, id, containerId, status, reason, fence, sandboxId, endedAt } = row
  const result = hasEnded(status) ? (row.result?.stdout ?? row.resultRef?.objectKey ?? null) : null
  const fields = { tenant, id, containerId, status, reason, fence, sandboxId, endedAt }
  history.add({ type: 'row', row: fields, owner: row.lease?.owner ?? null, result })
}

function addBatch(history: History, pk: string, item: Record<string, unknown>): void {
  const [, tenant = '', , execution = ''] = pk.split('#')
  const events = typeof item['events'] === 'string' ? (JSON.parse(item['events']) as { readonly type: string }[]) : []
  history.add({
    type: 'batch',
    tenant,
    execution,
    firstSeq: Number(item['firstSeq']),
    events: events.length,
    fence: Number(item['fence']),
    hasDone: events.some(({ type }) => type === 'done'),
  })
}

function addContainer(history: History, { tenant, id, queue, sandboxId, generation, deletedAt }: Container): void {
  history.add({ type: 'container', row: { tenant, id, queue, sandboxId, generation, deletedAt } })
}

function addSandbox(history: History, { id, state, claimedBy }: Sandbox): void {
  history.add({ type: 'sandbox', row: { id, state, claimedBy } })
}
