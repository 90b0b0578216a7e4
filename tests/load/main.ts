// `npm run test:load`: many tenants run code while one of them floods the server; compares the others with the time before the flood.
import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import { readOptions, refuseOption } from '../../scripts/read-options.ts'
import { ensureSandboxImage } from '../../scripts/setup/sandbox-image.ts'
import type { TenantPolicy } from '../../services/model/tenants/tenant.ts'
import type { ApiClient } from '../bench/sides/api-client.ts'
import { startServer } from '../bench/sides/server.ts'
import { round, summarize } from '../bench/statistics.ts'
import { startFlood } from './flood.ts'

const MAX_RATIO = 2
const STARTS_AT_ONCE = 4
/** A tenant waits this long between two executions, milliseconds. */
const MIN_PAUSE_MS = 3_000
const MAX_PAUSE_MS = 9_000
/** The plan of every tenant: its share of a small machine. */
const POLICY: TenantPolicy = { limits: { requestsPerSecond: 50, concurrentExecutions: 2, queuedJobs: 500, liveContainers: 10 } }

const values = readOptions('test:load', { tenants: { type: 'string', default: '50' }, minutes: { type: 'string', default: '10' } })
const [tenants, phaseMs] = [Number(values.tenants), Number(values.minutes) * 60_000]
if (!Number.isInteger(tenants) || tenants < 2) refuseOption('test:load', '--tenants accepts a whole number from 2.')
if (!(phaseMs > 0)) refuseOption('test:load', '--minutes accepts a number above 0.')

interface Quiet {
  readonly client: ApiClient
  readonly container: string
}
interface Measured {
  readonly times: readonly number[]
  readonly errors: readonly string[]
}

const server = await startServer({ image: await ensureSandboxImage(say), poolSize: 0, idleSeconds: 3_600 })
try {
  const slots = pLimit(STARTS_AT_ONCE)
  const others = await Promise.all(Array.from({ length: tenants - 1 }, (_, n) => slots(() => startTenant(`tenant ${n}`))))
  const flooder = await startTenant('flooder')
  say(`✓ ${tenants} tenants have a live container`)
  const before = await measure(others)
  say(`✓ without the flood: p99 ${summarize('ms', before.times).p99} ms of ${before.times.length} executions`)
  const flood = await startFlood(flooder.client, flooder.container)
  const during = await measure(others)
  const statuses = await flood.stop()
  process.exitCode = report(before, during, statuses) ? 0 : 1
} finally {
  await server.stop()
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

async function startTenant(name: string): Promise<Quiet> {
  const client = await server.addTenant(name, POLICY)
  const container = await client.createContainer()
  await client.run(container, 'print(1)')
  return { client, container }
}

/** Every tenant runs code for the length of a phase, with pauses. */
async function measure(others: readonly Quiet[]): Promise<Measured> {
  const times: number[] = []
  const errors: string[] = []
  const until = performance.now() + phaseMs
  await Promise.all(
    others.map(async ({ client, container }) => {
      for (;;) {
        await pause(MIN_PAUSE_MS + Math.random() * (MAX_PAUSE_MS - MIN_PAUSE_MS))
        if (performance.now() > until) return
        const startedAt = performance.now()
        await client.run(container, 'print(1)').then(
          () => times.push(performance.now() - startedAt),
          (error: unknown) => errors.push(String(error)),
        )
      }
    }),
  )
  return { times, errors }
}

/** Prints the figures; false when a threshold is missed. */
function report(before: Measured, during: Measured, statuses: ReadonlyMap<number, number>): boolean {
  const [quiet, flooded] = [summarize('ms', before.times), summarize('ms', during.times)]
  const ratio = round(flooded.p99 / quiet.p99)
  const errors = [...before.errors, ...during.errors]
  const unexpected = [...statuses.keys()].filter((status) => status >= 300 && status !== 429)
  const list = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  console.log(`${tenants - 1} tenants without the flood: median ${quiet.median} ms, p99 ${quiet.p99} ms, ${quiet.runs} executions`)
  console.log(`${tenants - 1} tenants during the flood: median ${flooded.median} ms, p99 ${flooded.p99} ms, ${flooded.runs} executions`)
  console.log(`answers to the flooder: ${list.join(', ')}`)
  console.log(
    `p99 ratio ${ratio} (at most ${MAX_RATIO}); errors of the others ${errors.length} (0); other errors of the flooder ${unexpected.length} (0)`,
  )
  for (const error of errors.slice(0, 5)) console.log(error)
  return ratio <= MAX_RATIO && errors.length === 0 && unexpected.length === 0
}
