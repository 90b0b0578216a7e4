import { findFile } from '../files/find-file.ts'
import { visibleTo } from '../access.ts'
import { ServiceError } from '../../model/errors.ts'
import { fileName } from '../../model/files/file-path.ts'
import { LIMITS } from '../../model/limits.ts'
import { inputItemId, wireItems } from '../../model/responses/input-items.ts'
import { responseIdOfItem } from '../../model/responses/item-ids.ts'
import { loadResponse } from './response-blobs.ts'
import type { ResponseRequest } from '../../model/responses/response.ts'
import type { TurnPorts, TurnRequest } from './turn-request.ts'
import { renderItem } from '../../model/responses/items/item-types.ts'

type Wire = Readonly<Record<string, unknown>>
const ATTACHMENTS: readonly unknown[] = ['input_file', 'input_image']

/** The names of the files that the messages attach by id, by that id. Throws ServiceError for one that the caller does not have. */
export async function findAttached(deps: TurnPorts, { caller, request: { input } }: TurnRequest): Promise<ReadonlyMap<string, string>> {
  const places = new Map<string, string>()
  if (typeof input !== 'string')
    for (const [index, item] of input.entries())
      for (const [at, part] of partsOf(item).entries()) {
        const id = attachedId(part)
        if (id !== null && !places.has(id)) places.set(id, `input[${index}].content[${at}].file_id`)
      }
  if (places.size > LIMITS.maxFileIds)
    throw new ServiceError('invalid_request', `The input attaches ${places.size} files; the maximum is ${LIMITS.maxFileIds}. Send fewer.`, {
      param: 'input',
    })
  const found = await Promise.all(
    [...places].map(async ([id, param]) => [id, fileName((await findFile({ deps, caller }, id, { scope: 'run', param })).path)] as const),
  )
  return new Map(found)
}

/** The input with the name of each attached file beside its id, for the model to read. */
export function nameAttached(input: ResponseRequest['input'], names: ReadonlyMap<string, string>): ResponseRequest['input'] {
  if (typeof input === 'string' || names.size === 0) return input
  return input.map((item) => {
    if (!Array.isArray(item['content'])) return item
    const content = partsOf(item).map((part) => {
      const id = attachedId(part)
      return part['type'] === 'input_file' && id !== null ? { filename: names.get(id), ...part } : part
    })
    return { ...item, content }
  })
}

const partsOf = (item: Wire): readonly Wire[] => (Array.isArray(item['content']) ? (item['content'] as readonly Wire[]) : [])

const attachedId = (part: Wire): string | null =>
  ATTACHMENTS.includes(part['type']) && typeof part['file_id'] === 'string' && part['file_id'] !== '' ? part['file_id'] : null

/** Responses whose items one input may refer to. */
const MAX_RESPONSES = 100

/**
 * The input with every `item_reference` replaced by the item that it names; clients send references to items that they expect to be stored.
 * Throws ServiceError `item_not_found`: an answer without that part of the history would be an answer to something else.
 */
export async function resolveReferences(
  { table, objects }: TurnPorts,
  { caller, request: { input } }: TurnRequest,
): Promise<ResponseRequest['input']> {
  if (typeof input === 'string') return input
  const wanted = new Set(input.map(referenceOf).filter((id) => id !== null))
  if (wanted.size === 0) return input
  const responses = new Set([...wanted].map(responseIdOfItem).filter((id) => id !== null))
  const items = new Map<string, Wire>()
  const isVisible = visibleTo(caller, 'run')
  for (const id of [...responses].slice(0, MAX_RESPONSES)) {
    const row = await table.responses.get(caller.tenant, id)
    if (row === null || !row.request.store || !isVisible(row)) continue
    const whole = await loadResponse(objects, row)
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
        `No item ${JSON.stringify(id.slice(0, 80))} is stored. Send the item itself; items of a response with "store": false are not stored.`,
        { param: `input[${index}].id` },
      )
    return found
  })
}

const referenceOf = (item: Wire): string | null => (item['type'] === 'item_reference' && typeof item['id'] === 'string' ? item['id'] : null)
