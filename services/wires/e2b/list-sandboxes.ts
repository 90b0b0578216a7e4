import type { Container } from '../../model/containers/container.ts'
import { visibleTo } from '../../operations/access.ts'
import { collectPage } from '../../http/paging.ts'
import { json } from '../../http/responses.ts'
import type { Call } from '../../http/route.ts'
import { describe, stateOf } from './sandbox-info.ts'
import { sessionOf } from './session.ts'
import { endIfOverdue, isOverdue } from './open-sandbox.ts'

/** The name of containers that this wire creates. */
export const CONTAINER_NAME = 'e2b'
const MAX_PAGE = 100
const MAX_TOKEN_CHARACTERS = 200

export async function listSandboxes({ deps, caller, request: { url } }: Call): Promise<Response> {
  const query = new URL(url).searchParams
  const now = deps.clock.now()
  const isWanted = matcherOf(query, now)
  const limit = limitOf(query)
  const isVisible = visibleTo(caller, 'read')
  const overdue: Container[] = []
  const page = await collectPage(
    {
      after: query.get('nextToken')?.slice(0, MAX_TOKEN_CHARACTERS) ?? null,
      // One more than the page, to know whether another one follows.
      limit: limit + 1,
      order: query.get('order') === 'asc' ? 'asc' : 'desc',
    },
    (request) => deps.table.containers.list(caller.tenant, { ...request, name: CONTAINER_NAME }),
    (row) => {
      if (!isVisible(row)) return false
      if (!isOverdue(row, now)) return isWanted(row)
      overdue.push(row)
      return false
    },
  )
  // One after the other: each deletion ends the sandbox's code.
  for (const row of overdue) await endIfOverdue(deps, row)
  const rows = page.rows.slice(0, limit)
  const last = rows.at(-1)
  const headers: Record<string, string> = page.rows.length > limit && last !== undefined ? { 'x-next-token': last.id } : {}
  return json(
    200,
    rows.map((row) => describe(row, now)),
    headers,
  )
}

function limitOf(query: URLSearchParams): number {
  const wanted = Math.trunc(Number(query.get('limit') ?? MAX_PAGE))
  return wanted >= 1 ? Math.min(MAX_PAGE, wanted) : MAX_PAGE
}

function matcherOf(query: URLSearchParams, now: number): (row: Container) => boolean {
  const states = query.getAll('state').flatMap((value) => value.split(','))
  const template = query.get('template')
  const metadata = [...new URLSearchParams(query.get('metadata') ?? '')].map(([name, value]) => [decoded(name), decoded(value)] as const)
  const startedAfter = Date.parse(query.get('startedAfter') ?? '')
  return (row) => {
    const session = sessionOf(row)
    return (
      (states.length === 0 || states.includes(stateOf(row, now))) &&
      (Number.isNaN(startedAfter) || row.createdAt >= startedAfter) &&
      (template === null || session?.template === template) &&
      metadata.every(([name, value]) => session?.metadata[name] === value)
    )
  }
}

/** E2B's clients encode names and values of metadata twice. Text that is no second encoding is from a client that encodes them once. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
