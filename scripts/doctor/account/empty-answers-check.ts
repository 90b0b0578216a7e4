import { fail, ok, type Finding } from '../finding.ts'
import type { Api } from './service-calls.ts'

const CHECK = 'Empty answers'
const WITHIN_MS = 5_000
/** For the call that only prepares another one. */
const TIMEOUT_MS = 120_000

interface Probe {
  readonly what: string
  readonly path: string
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Null: any. */
  readonly statuses: readonly number[] | null
}

const JSON_BODY = { 'content-type': 'application/json' }
const ALWAYS: readonly Probe[] = [
  { what: 'HEAD', path: '/v1/models', method: 'HEAD', statuses: [200] },
  { what: 'OPTIONS', path: '/v1/models', method: 'OPTIONS', statuses: null },
  {
    what: 'the notification of an MCP client',
    path: '/mcp',
    method: 'POST',
    headers: { ...JSON_BODY, accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    statuses: [202],
  },
]

/** Whether answers without content end. In some accounts a function URL never ends an answer in which the function has written no byte. */
export async function checkEmptyAnswers(api: Api, withinMs = WITHIN_MS): Promise<Finding> {
  const sandbox = await createE2bSandbox(api)
  const e2b = { path: `/e2b/sandboxes/${sandbox}`, headers: { 'x-api-key': api.key } }
  const kill: Probe = { ...e2b, what: 'the end of an E2B sandbox', method: 'DELETE', statuses: [200, 204] }
  const problems: string[] = []
  let slowestMs = 0
  for (const probe of [...ALWAYS, kill]) {
    const startedAt = performance.now()
    const status = await statusOf(api, probe, withinMs)
    slowestMs = Math.max(slowestMs, performance.now() - startedAt)
    if (status === null) problems.push(`${probe.what} had no complete answer within ${withinMs / 1000} s`)
    else if (probe.statuses !== null && !probe.statuses.includes(status)) problems.push(`${probe.what} was answered with ${status}`)
  }
  return problems.length === 0
    ? ok(CHECK, `HEAD, OPTIONS, an MCP notification and the end of an E2B sandbox took at most ${(slowestMs / 1000).toFixed(1)} s`)
    : fail(
        CHECK,
        `${problems.join('; ')}. Clients of MCP and E2B need these answers, and one that never ends holds a function. Report it with the output of --transcript.`,
      )
}

/** Null: the answer did not end in time. */
async function statusOf({ url, key }: Api, probe: Probe, withinMs: number): Promise<number | null> {
  const { path, method, headers, body } = probe
  try {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { ...(headers?.['x-api-key'] === undefined && { authorization: `Bearer ${key}` }), ...headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(withinMs),
      ...(body === undefined ? {} : { body }),
    })
    await answer.arrayBuffer()
    return answer.status
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') return null
    throw error
  }
}

async function createE2bSandbox({ url, key }: Api): Promise<string> {
  const answer = await fetch(`${url}/e2b/v2/sandboxes`, {
    method: 'POST',
    headers: { ...JSON_BODY, 'x-api-key': key },
    body: JSON.stringify({ timeout: 60 }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const { sandboxID } = (await answer.json().catch(() => ({}))) as { readonly sandboxID?: string }
  if (sandboxID === undefined) throw new Error(`the creation of an E2B sandbox was answered with ${answer.status}`)
  return sandboxID
}
