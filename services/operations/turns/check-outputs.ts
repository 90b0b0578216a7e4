import { ServiceError } from '../../model/errors.ts'
import { hasResponseEnded, type ResponseRequest } from '../../model/responses/response.ts'
import type { TurnPorts, TurnRequest } from './turn-request.ts'
import { loadResponse } from './response-blobs.ts'

type Wire = Readonly<Record<string, unknown>>

const CALLS = ['function_call', 'shell_call', 'apply_patch_call']
/** Items with the result of a call that the caller performed. */
const OUTPUTS = CALLS.map((type) => `${type}_output`)
const MAX_TURNS = 200
const ITEMS_PER_READ = 100

/**
 * Refuses outputs of calls that occur neither in the input nor in its history. `input`: with its references resolved. Throws ServiceError: the model
 * would not receive such an output.
 */
export async function checkOutputs(
  ports: Pick<TurnPorts, 'table' | 'objects'>,
  turn: TurnRequest,
  input: ResponseRequest['input'],
): Promise<void> {
  if (typeof input === 'string') return
  const called = new Set(input.filter((item) => CALLS.includes(String(item['type']))).map((item) => item['call_id']))
  const open = new Map(
    [...input.entries()].flatMap(([index, item]): [unknown, number][] =>
      OUTPUTS.includes(String(item['type'])) && !called.has(item['call_id']) ? [[item['call_id'], index]] : [],
    ),
  )
  if (open.size === 0) return
  const isWhole = await removeKnown(ports, turn, open)
  const [first] = open
  if (!isWhole || first === undefined) return
  throw new ServiceError(
    'invalid_request',
    `No call has the call_id ${JSON.stringify(String(first[0]).slice(0, 80))} of this output. Send the call as well, or the previous_response_id of the response that made it.`,
    { param: `input[${first[1]}].call_id` },
  )
}

/** Removes the calls of the history from `open`. False: a part of the history was not read. */
async function removeKnown(
  { table, objects }: Pick<TurnPorts, 'table' | 'objects'>,
  { caller, conversationId, previousResponseId: previous }: TurnRequest,
  open: Map<unknown, number>,
): Promise<boolean> {
  if (conversationId !== null) {
    for (let after: string | null = null; open.size > 0;) {
      const page = await table.conversations.items(caller.tenant, conversationId, { after, limit: ITEMS_PER_READ, order: 'desc' })
      for (const { content } of page.rows) open.delete(callIdOf(content.item))
      after = page.rows.at(-1)?.position ?? null
      if (!page.hasMore || after === null) return true
    }
    return true
  }
  let id = previous
  for (let turn = 0; id !== null && open.size > 0; turn += 1) {
    const row = await table.responses.get(caller.tenant, id)
    if (row === null) return true
    // Its calls are not stored yet.
    if (turn === MAX_TURNS || !hasResponseEnded(row.status)) return false
    const { items, request, previousResponseId } = await loadResponse(objects, row)
    for (const item of items) open.delete(callIdOf(item))
    if (typeof request.input !== 'string') for (const item of request.input) open.delete(callIdOf(item))
    id = previousResponseId
  }
  return true
}

/** Stored items name it `callId`, those of the wire `call_id`. */
function callIdOf(item: object): unknown {
  const { callId, call_id: wireId } = item as Wire
  return callId ?? wireId
}
