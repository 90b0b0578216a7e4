import { TIERS } from '../../model/limits.ts'
import type { Container } from '../../model/containers/container.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { loadResult } from '../../operations/executions/load-result.ts'
import { currentFiles } from '../../operations/files/find-by-path.ts'
import { json } from '../../http/responses.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { sandboxOf } from './open-sandbox.ts'
import { e2bRoute } from './routing.ts'

const MAX_LOGS = 100
const PERCENT = 100

/** Time of a query in seconds, as milliseconds. */
const timeIn = (query: URLSearchParams, name: string, otherwise: number): number => {
  const given = query.get(name)
  return given !== null && /^\d{1,12}$/.test(given) ? Number(given) * 1000 : otherwise
}

async function latest({ deps }: Pick<Call, 'deps'>, { tenant, id }: Container, limit: number): Promise<readonly Execution[]> {
  return (await deps.table.executions.listByContainer(tenant, id, { after: null, limit, order: 'desc' })).rows
}

/** One sample of the present, from what the latest execution used: nothing measures a sandbox between executions. */
async function metrics(call: Call): Promise<Response> {
  const row = await sandboxOf(call, 'read')
  const now = call.deps.clock.now()
  const query = new URL(call.request.url).searchParams
  // The query has whole seconds.
  if (timeIn(query, 'start', 0) > now || timeIn(query, 'end', now) + 1000 <= now) return json(200, [])
  const [execution] = await latest(call, row, 1)
  const result = execution === undefined ? null : await loadResult(call.deps.objects, execution)
  const { cpuMs, runMs, peakMemoryBytes } = result?.usage ?? { cpuMs: 0, runMs: 0, peakMemoryBytes: 0 }
  const files = await currentFiles(call.deps, row)
  const total = TIERS[row.memoryTier].memoryBytes
  return json(200, [
    {
      timestamp: new Date(now).toISOString(),
      timestampUnix: Math.floor(now / 1000),
      cpuCount: 1,
      cpuUsedPct: runMs === 0 ? 0 : Math.min(PERCENT, (cpuMs / runMs) * PERCENT),
      memUsed: peakMemoryBytes,
      memTotal: total,
      memCache: 0,
      diskUsed: files.reduce((sum, { bytes }) => sum + bytes, 0),
      diskTotal: total,
    },
  ])
}

/** The latest executions and commands, without what they ran and printed. */
async function entries(call: Call): Promise<readonly { readonly timestamp: string; readonly message: string; readonly level: string }[]> {
  const rows = await latest(call, await sandboxOf(call, 'read'), MAX_LOGS)
  return rows.map((row) => ({
    timestamp: new Date(row.endedAt ?? row.createdAt).toISOString(),
    message: `${row.source.kind} ${row.id} ${hasEnded(row.status) ? 'ended as' : 'is'} ${row.status}`,
    level: row.status === 'failed' ? 'error' : 'info',
    fields: {},
  }))
}

const read = { plane: 'control', scope: 'read', method: 'get' } as const

export const activityRoutes: readonly AnyRoute[] = [
  e2bRoute({ ...read, path: '/sandboxes/{sandbox_id}/metrics', handle: metrics }),
  e2bRoute({
    ...read,
    path: '/sandboxes/{sandbox_id}/logs',
    handle: async (call) => {
      const logEntries = await entries(call)
      return json(200, { logs: logEntries.map(({ timestamp, message }) => ({ timestamp, line: message })), logEntries })
    },
  }),
  e2bRoute({ ...read, path: '/v2/sandboxes/{sandbox_id}/logs', handle: async (call) => json(200, { logs: await entries(call) }) }),
]
