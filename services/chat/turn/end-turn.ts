import { topicOf } from '../../core/events.ts'
import { hasEventStream, isOpenCall, responseRemoval, terminalEventOf, type ResponseStatus } from '../../core/responses/response.ts'
import type { TurnDeps } from '../deps.ts'
import { addToConversation, leaveConversation } from './add-to-conversation.ts'
import { LeaseLostError } from '../../jobs/lease.ts'
import { abandonPending } from './settle-pending.ts'
import type { Turn } from './turn.ts'

/** Events up to this many bytes of JSON ride in the row, and so does a terminal one. */
const MAX_TAIL_BYTES = 32 * 1024

/** Commits the one terminal state, once the log is this step's alone. The last events ride in the row; a terminal event too big for that is made from the row by its readers. */
export async function endTurn(
  deps: TurnDeps,
  turn: Turn,
  status: Extract<ResponseStatus, 'completed' | 'failed' | 'incomplete' | 'cancelled'>,
): Promise<void> {
  const { row, writer } = turn
  await abandonPending(deps, turn)
  closeOpenItems(turn)
  // A turn that never said anything leaves no question behind: its caller asks again.
  if (turn.items.length > 0 || status === 'completed') await addToConversation(deps, turn)
  await turn.seal()
  await writer.copyTail(MAX_TAIL_BYTES)
  const completedAt = deps.clock.now()
  if (hasEventStream(row)) {
    const response = turn.render({ status, completedAt })
    if (Buffer.byteLength(JSON.stringify(response)) <= MAX_TAIL_BYTES)
      writer.emit({ type: terminalEventOf(status), data: { response } }, 'paced')
  }
  const { patch } = turn.snapshot()
  // At once, so that the log never says the end before the row does.
  const tailEvents = await writer.removeTail()
  const end = { ...(await patch()), status, completedAt, tailEvents }
  const ended = await deps.table.responses.commit(row.tenant, row.id, row.fence, end, { removeAt: responseRemoval(row, completedAt) })
  if (ended === null) throw new LeaseLostError(row.id)
  deps.signals.notify(topicOf('response', row.id), ended)
  await leaveConversation(deps, turn)
}

function closeOpenItems(turn: Turn): void {
  for (const [index, item] of turn.items.entries()) {
    const waits = item.type === 'code_interpreter_call' && (item.status === 'in_progress' || item.status === 'interpreting')
    if (waits || isOpenCall(item, turn.row.request)) turn.finishItem(index, { ...item, status: 'incomplete' })
  }
}
