import type { ObjectStore } from '../../core/ports/object-store.ts'
import type { ResponseStore } from '../../core/ports/table.ts'
import { loadResponse } from '../../core/response-blobs.ts'
import type { Response } from '../../core/response.ts'

/** A chain longer than this is read from its near end only. */
const MAX_TURNS = 200

/**
 * The turns before this one, the oldest first: walked back row by row until there is no earlier one, one is missing (deleted), or
 * `isEnough` says that no more would fit.
 */
export async function readHistory(
  ports: { readonly responses: ResponseStore; readonly objects: ObjectStore },
  response: Pick<Response, 'tenant' | 'previousResponseId'>,
  isEnough: (turns: readonly Response[]) => boolean,
): Promise<readonly Response[]> {
  const turns: Response[] = []
  let id = response.previousResponseId
  while (id !== null && turns.length < MAX_TURNS && !isEnough(turns)) {
    const row = await ports.responses.get(response.tenant, id)
    if (row === null) break
    turns.unshift(await loadResponse(ports.objects, row))
    id = row.previousResponseId
  }
  return turns
}
