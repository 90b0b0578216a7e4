import { ServiceError } from '../../core/errors.ts'
import { fileName } from '../../core/files/file-path.ts'
import { LIMITS } from '../../core/limits.ts'
import type { ResponseRequest } from '../../core/responses/response.ts'
import { findFile } from '../access.ts'
import type { Call } from '../http/route.ts'
import type { CreateResponse } from '../wire/response.ts'

type Wire = Readonly<Record<string, unknown>>
const ATTACHMENTS: readonly unknown[] = ['input_file', 'input_image']

/** The names of the files that the messages attach by id, by that id. Throws ServiceError for one that the caller does not have. */
export async function findAttached(
  call: Pick<Call<unknown, CreateResponse>, 'deps' | 'caller' | 'body'>,
): Promise<ReadonlyMap<string, string>> {
  const { input } = call.body
  const places = new Map<string, string>()
  if (typeof input !== 'string')
    for (const [index, item] of input.entries())
      for (const [at, part] of partsOf(item).entries()) {
        const id = attachedId(part)
        if (id !== null && !places.has(id)) places.set(id, `input[${index}].content[${at}].file_id`)
      }
  if (places.size > LIMITS.maxFileIds)
    throw new ServiceError('invalid_request', `The input attaches ${places.size} files; at most ${LIMITS.maxFileIds} are taken.`, {
      param: 'input',
    })
  const found = await Promise.all([...places].map(async ([id, param]) => [id, fileName((await findFile(call, id, param)).path)] as const))
  return new Map(found)
}

/** The input with the name of each attached file beside its id, for the model to read. */
export function nameAttached(input: CreateResponse['input'], names: ReadonlyMap<string, string>): ResponseRequest['input'] {
  if (typeof input === 'string' || names.size === 0) return input
  return input.map((item) => {
    if (!Array.isArray(item.content)) return item
    const content = item.content.map((part) => {
      const id = attachedId(part)
      return part.type === 'input_file' && id !== null ? { filename: names.get(id), ...part } : part
    })
    return { ...item, content }
  })
}

const partsOf = (item: Wire): readonly Wire[] => (Array.isArray(item['content']) ? (item['content'] as readonly Wire[]) : [])

const attachedId = (part: Wire): string | null =>
  ATTACHMENTS.includes(part['type']) && typeof part['file_id'] === 'string' && part['file_id'] !== '' ? part['file_id'] : null
