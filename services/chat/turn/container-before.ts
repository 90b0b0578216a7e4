import type { TurnDeps } from '../deps.ts'
import type { PastTurn } from '../conversation/past-turn.ts'
import type { Turn } from './turn.ts'

type Input = PastTurn['request']['input']
/** Containers that are looked for; a history may name more. */
const MAX_LOOKS = 5

/**
 * The container in which an `auto` turn goes on: the nearest one that the conversation names and that is still there. Items that the caller
 * sends back name theirs. One that has gone to sleep wakes; one that was deleted, or that belongs to another end user, is passed over.
 */
export async function containerBefore(deps: TurnDeps, turn: Turn, history: readonly PastTurn[]): Promise<string | null> {
  const { tenant, subject, request } = turn.row
  if (request.interpreter === null) return null
  const named = [
    ...namedIn(request.input),
    ...history
      .toReversed()
      .flatMap((earlier) => [...(earlier.containerId === null ? [] : [earlier.containerId]), ...namedIn(earlier.request.input)]),
  ]
  for (const id of [...new Set(named)].slice(0, MAX_LOOKS)) {
    const container = await deps.table.containers.get(tenant, id)
    if (container !== null && container.deletedAt === null && (subject === null || container.subject === subject)) return id
  }
  return null
}

/** The latest first. */
function namedIn(input: Input): readonly string[] {
  if (typeof input === 'string') return []
  return input.toReversed().flatMap((item) => {
    const id = item['type'] === 'code_interpreter_call' ? item['container_id'] : null
    return typeof id === 'string' && id !== '' ? [id] : []
  })
}
