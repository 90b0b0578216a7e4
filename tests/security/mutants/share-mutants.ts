import type { Mutant } from './mutant.ts'

const share = (protection: string, file: string, change: readonly [find: string, replace: string], test: string): Mutant => ({
  protection: `service: ${protection}`,
  edits: [{ file: `services/${file}`, find: change[0], replace: change[1] }],
  killer: { test: `tests/${test}` },
})

const SILENT = 'api/webhooks/silent-endpoints.test.ts'
const KEYLESS_TURNS = 'api/connections/keyless-turns.test.ts'
const ABANDONED = 'api/connections/abandoned.test.ts'

/** What one tenant, or one request, can take of the process. */
export const SHARE_MUTANTS: readonly Mutant[] = [
  share(
    'webhook deliveries of one tenant at once',
    'workers/deliver/delivery-lanes.ts',
    ['heldByTenant < DELIVERIES_AT_ONCE && ', ''],
    SILENT,
  ),
  share(
    'webhook deliveries to one endpoint at once',
    'workers/deliver/delivery-lanes.ts',
    ['!this.#endpoints.has(endpointId)', 'true'],
    SILENT,
  ),
  share(
    'requests of several tenants begin in turn',
    'http/round-robin.ts',
    [
      '      this.#waiting.delete(owner)\n      if (own.size > 0)',
      '      if (own.size === 0) this.#waiting.delete(owner)\n      if (own.size > 0)',
    ],
    'unit/api/round-robin.test.ts',
  ),
  share(
    'long messages of one tenant that arrive at the same time',
    'entries/local/arrival-slots.ts',
    ['pLimit(this.#perTenant)', 'pLimit(Number.POSITIVE_INFINITY)'],
    'unit/local/arrival-slots.test.ts',
  ),
  share(
    'requests per second in functions',
    'model/tenants/tenant-limits.ts',
    ['Math.ceil(functions / 3)', '1_000'],
    'api/limits/functions.test.ts',
  ),
  share('probes of a silent endpoint', 'workers/deliver/silent-endpoints.ts', ['if (now < seen.probeAt) return false', ''], SILENT),
  share(
    'share of a tenant in a pool',
    'model/tenants/share.ts',
    [' && (held < capacity * FREE_PART || heldByTenant < shareOf(capacity))', ''],
    'unit/core/share.test.ts',
  ),
  share(
    'share of a tenant in the workers of a queue',
    'adapters/storage/memory-queue/memory-queue.ts',
    ['channel.ready.take(admits)', 'channel.ready.take()'],
    'contract/memory-queue.test.ts',
  ),
  share(
    'rows that are counted before they are stored',
    'adapters/storage/rows/meter-items.ts',
    ['if (isRefusable(place, item))', 'if (false)'],
    'api/limits/full-account.test.ts',
  ),
  share(
    'growth of a row that is counted',
    'adapters/storage/rows/meter-items.ts',
    ['if (charged === 0 || growth <= MAX_UNCOUNTED_GROWTH) return after', 'if (bytes >= 0) return after'],
    'contract/sqlite-table.test.ts',
  ),
  share(
    'rows in the count of stored bytes',
    'operations/tenancy/resource-counts.ts',
    [' + (await rowBytes.of(tenant))', ''],
    'api/limits/counted.test.ts',
  ),
  share(
    'containers of a tenant',
    'operations/tenancy/meter-storage.ts',
    ['if (isContainer && !(await containers.take(tenant)))', 'if (false)'],
    'api/limits/counted.test.ts',
  ),
  share(
    'input of a command that is never read',
    'operations/commands/send-input.ts',
    ["if (input.type === 'stdin') await checkPending", 'if (false) await checkPending'],
    'api/limits/counted.test.ts',
  ),
  share(
    'code in the count of stored bytes',
    'operations/executions/run-code.ts',
    ['caller.tenant, storedBytesOf(request))', 'caller.tenant, 1)'],
    'api/limits/counted.test.ts',
  ),
  share(
    'share of a tenant in calls to the table',
    'entries/local/storage/open-aws-storage.ts',
    ['  takeTurns(clients.dynamodb)\n', ''],
    'contract/aws-storage-shares.test.ts',
  ),
  share(
    'pace of calls without a pause',
    'adapters/storage/fairness/fair-calls.ts',
    ['(this.#recent.get(owner) ?? 0) < BURST || this.#isAlone(owner)', 'true'],
    'unit/storage/fair-calls.test.ts',
  ),
  share('tenant for whom a request is served', 'http/mount-route.ts', ['    workFor(owner)\n', ''], 'api/limits/work-owner.test.ts'),
  share(
    'files that a tenant does not read',
    'http/object-answer.ts',
    ['results.hold(Math.min(bytes, STREAM_BYTES),', 'results.hold(0 * bytes,'],
    'api/connections/unread-downloads.test.ts',
  ),
  share(
    'turns of clients that have left',
    'http/round-robin.ts',
    ["    waiter?.once('close', leave)\n", ''],
    'unit/api/round-robin.test.ts',
  ),
  share(
    'parsing of connections that their clients have closed',
    'http/request-feed.ts',
    ['        if (this.#hasEnded) return void this.destroy()\n', ''],
    'unit/api/request-feed.test.ts',
  ),
  share(
    'requests whose client left before they began',
    'http/middleware/take-turn.ts',
    ['  if (connection.outgoing?.destroyed === true) throw new ClientLeftError()\n', ''],
    ABANDONED,
  ),
  share('work for clients that have left', 'http/connection-guard.ts', ['this.#abandonedOf(tenant) >= maxAbandoned', 'false'], ABANDONED),
  share(
    'turns of clients without a key',
    'http/middleware/take-turn.ts',
    ['  await arrivals.enter(owner ?? addressOwner(connection), connection.outgoing)\n', ''],
    KEYLESS_TURNS,
  ),
  share('turns of refused clients without a key', 'entries/api/app.ts', ["  app.use('*', refuseInTurn(deps))\n", ''], KEYLESS_TURNS),
  share('probes at the same time', 'entries/api/readiness.ts', ['running ??= ', ''], 'unit/api/readiness.test.ts'),
  share(
    'documents that are made once',
    'http/kept-documents.ts',
    ['until: now + KEPT_MS', 'until: now'],
    'unit/api/kept-documents.test.ts',
  ),
  share(
    'connections to S3',
    'adapters/storage/client-options.ts',
    ['maxSockets: 512', 'maxSockets: 50'],
    'contract/s3-object-store.test.ts',
  ),
  share('slots of turns', 'entries/local/workers.ts', ['turns: 500', 'turns: 32'], 'api/limits/turn-share.test.ts'),
  share(
    'sandboxes that count while they are held',
    'workers/place/repair-sandbox.ts',
    ['  await meterSandbox(deps, sandbox, { until: now, holder })\n', ''],
    'api/usage/held-sandbox.test.ts',
  ),
  share(
    'sandboxes that count until their release',
    'workers/place/stop-sandbox.ts',
    ['  await meterSandbox(deps, row, { until, holder: await holderOf(table, row) })\n', ''],
    'api/usage/held-sandbox.test.ts',
  ),
  share(
    'processor time of programs in the background',
    'operations/usage/record-usage.ts',
    ['sandboxCpuMs = cpuMs', 'cpuMs: sandboxCpuMs'],
    'contract/record-usage.test.ts',
  ),
  share(
    'idle memory of the largest tenant first',
    'workers/run/sandboxes/hibernate-largest.ts',
    ['.toSorted((one, other) => other.memoryBytes - one.memoryBytes)', ''],
    'integration/orchestrator/hibernate-largest.test.ts',
  ),
  share(
    'idle memory of smaller tenants',
    'workers/run/sandboxes/hibernate-largest.ts',
    ['.filter(({ memoryBytes }) => memoryBytes >= own)', ''],
    'integration/orchestrator/hibernate-largest.test.ts',
  ),
  share(
    'share of a tenant in the processors of one machine',
    'workers/place/processor-shares.ts',
    ['1 / 2 ** Math.ceil(Math.log2(held.length))', '1'],
    'integration/orchestrator/processor-shares.test.ts',
  ),
  share(
    'weight of code that computes for long',
    'workers/place/processor-shares.ts',
    ['const WEIGHT_WITHOUT_CREDITS = 1 / 64', 'const WEIGHT_WITHOUT_CREDITS = 1'],
    'integration/orchestrator/processor-shares.test.ts',
  ),
  share(
    'share of a tenant in event streams',
    'http/stream-slots.ts',
    ['!admitsShare({ held: open, heldByTenant: openOf(tenant), capacity })', 'false'],
    'api/execution-events/429.test.ts',
  ),
  share(
    'size of a program of LibreChat',
    'wires/librechat/programmatic/state.ts',
    ['if (bytes > MAX_PROGRAM_BYTES)', 'if (false)'],
    'api/librechat-programmatic.test.ts',
  ),
  share(
    'a refused result leaves the program',
    'wires/librechat/programmatic/run-program.ts',
    ['    hold(call, next)\n', ''],
    'api/librechat-programmatic.test.ts',
  ),
  share(
    'paths with dot segments',
    'entries/local/http-server.ts',
    ["    if (hasDotSegments(request.url ?? '')) return void refuseDotSegments(request, response)\n", ''],
    'api/bad-input/dot-segments.test.ts',
  ),
  share(
    'data that a killed server left behind',
    'entries/local/storage/temporary-folder.ts',
    ['  await removeAbandoned(parent)\n', ''],
    'unit/local/temporary-folder.test.ts',
  ),
  share(
    'data of a server that runs',
    'entries/local/storage/temporary-folder.ts',
    ['  if (lock === null) return\n', ''],
    'unit/local/temporary-folder.test.ts',
  ),
  share(
    'sessions of people who have signed out',
    'http/page/page-session.ts',
    ['  if (await ended.has(caller.tenant, session)) throw missingKeyError()\n', ''],
    'api/page/session.test.ts',
  ),
  share(
    'links to files for keys without the scope',
    'http/mount-route.ts',
    ["caller.tenant === '' || caller.scopes.includes('files') ? answer : hideLinks(answer)", 'answer'],
    'api/links/hidden-links.test.ts',
  ),
]
