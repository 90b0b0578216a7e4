import { ServiceError } from '../../core/errors.ts'
import { inputItemId, wireItems } from '../../core/responses/input-items.ts'
import { responseIdOfItem } from '../../core/responses/item-ids.ts'
import { renderItem } from '../../core/responses/render-response.ts'
import { loadResponse } from '../../core/responses/response-blobs.ts'
import { isVisible } from '../access.ts'
import type { Call } from '../http/route.ts'
import type { CreateResponse } from '../wire/response.ts'

type Wire = Readonly<Record<string, unknown>>
/** Responses whose items one input may refer to. */
const MAX_RESPONSES = 100

/**
 * The input with every `item_reference` replaced by the item that it names: clients send those for items that they believe to be stored here.
 * Throws ServiceError `item_not_found`: an answer without that part of the history would be an answer to something else.
 */
export async function resolveReferences(
  { deps, caller }: Pick<Call<unknown, CreateResponse>, 'deps' | 'caller'>,
  input: CreateResponse['input'],
): Promise<CreateResponse['input']> {
  if (typeof input === 'string') return input
  const wanted = new Set(input.map(referenceOf).filter((id) => id !== null))
  if (wanted.size === 0) return input
  const responses = new Set([...wanted].map(responseIdOfItem).filter((id) => id !== null))
  const items = new Map<string, Wire>()
  for (const id of [...responses].slice(0, MAX_RESPONSES)) {
    const row = await deps.table.responses.get(caller.tenant, id)
    if (row === null || !row.request.store || !isVisible(row, caller)) continue
    const whole = await loadResponse(deps.objects, row)
    for (const item of wireItems(whole.request.input, (type, index, given) => given ?? inputItemId(row.id, type, index)))
      items.set(item.id, item)
    for (const item of whole.items) items.set(item.id, renderItem(item, { include: ['code_interpreter_call.outputs'] }))
  }
  return input.map((item, index) => {
    const id = referenceOf(item)
    if (id === null) return item
    const found = items.get(id)
    if (found === undefined)
      throw new ServiceError(
        'item_not_found',
        `No item ${JSON.stringify(id.slice(0, 80))} is stored here. Send the item itself; the items of a response with "store": false are never there.`,
        { param: `input[${index}].id` },
      )
    return found
  })
}

const referenceOf = (item: Wire): string | null => (item['type'] === 'item_reference' && typeof item['id'] === 'string' ? item['id'] : null)
