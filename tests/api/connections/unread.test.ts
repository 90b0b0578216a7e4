import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AnyEvent } from '../../../services/model/events.ts'
import type { EventStore } from '../../../services/ports/event-store.ts'
import type { Table } from '../../../services/ports/table.ts'
import { emptyResult } from '../../support/finish-execution.ts'
import { acceptedExecution, heldBytes, openConnection, requestHead, type RawConnection } from '../../support/raw-connection.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

const MiB = 1024 ** 2
const STALL_MS = 5_000
const STREAMS = 20
/** Of one tenant: two of the answers below. */
const SHARE = 16 * MiB
let api: TestApi
let executionId: string
const opened: RawConnection[] = []

let reads = 0
/** The same log; `reads` counts the answered reads. */
const countReads = (events: EventStore): EventStore => ({
  ...events,
  async read<E extends AnyEvent>(...args: Parameters<EventStore['read']>) {
    const found = await events.read<E>(...args)
    reads += 1
    return found
  },
})

const display = (seq: number, bytes: number) => ({
  seq,
  at: Date.now(),
  type: 'output' as const,
  cell: 0,
  output: { output_type: 'display_data' as const, data: { 'text/plain': String(seq).padEnd(bytes, 'x') }, metadata: {} },
})

beforeAll(async () => {
  api = await startApi({
    wrapTable: (table) => Object.assign(Object.create(table) as Table, { events: countReads(table.events) }),
    config: { stallMs: STALL_MS, maxResultBytesInFlight: 4 * SHARE },
  })
  const accepted = await acceptedExecution(api)
  executionId = accepted.executionId
  const owner = { kind: 'execution' as const, tenant: api.owner.tenant, id: executionId }
  for (let seq = 1; seq <= 190; seq++)
    await api.table.events.append(owner, { firstSeq: seq, events: [display(seq, 100_000)], fence: 1, sourceSeq: null })
  const outputs = Array.from({ length: 70 }, (_, at) => display(at, 100_000).output)
  const now = Date.now()
  const lease = await api.table.executions.acquireLease(
    { tenant: api.owner.tenant, id: executionId },
    { owner: 'w', now, expiresAt: now + 60_000 },
  )
  if (lease.kind !== 'acquired') throw new Error(lease.kind)
  const objectKey = `tenants/${api.owner.tenant}/${accepted.containerId}/results/${executionId}`
  const result = { ...emptyResult, cells: [{ index: 0, status: 'ok', executionCount: 1, outputs }] }
  const { bytes } = await api.objects.put(objectKey, Buffer.from(JSON.stringify(result)), { contentType: 'application/json' })
  await api.table.executions.commit(
    { tenant: api.owner.tenant, id: executionId, fence: lease.row.fence },
    {
      status: 'succeeded',
      endedAt: now,
      resultRef: { objectKey, bytes },
      tailEvents: [{ seq: 191, at: now, type: 'done', status: 'succeeded', reason: null }],
    },
  )
})
afterAll(() => api.stop())

async function unread(line: string, count: number): Promise<readonly RawConnection[]> {
  const connections = await Promise.all(Array.from({ length: count }, () => openConnection(api.url, { isReading: false })))
  opened.push(...connections)
  for (const { socket } of connections) {
    socket.pause()
    socket.write(requestHead(line, { key: api.owner }))
  }
  return connections
}

const end = (connections: readonly RawConnection[]): void => connections.forEach(({ socket }) => socket.destroy())
const streams = () => api.events.filter(({ event }) => event === 'http.stream').length

it('holds less than 1 MiB for each event stream that is not read, and ends it after the stall time', async () => {
  const before = heldBytes()
  const connections = await unread(`GET /v1/executions/${executionId}/events`, STREAMS)
  await expect.poll(() => reads, { timeout: 20_000 }).toBeGreaterThanOrEqual(STREAMS)
  expect(streams()).toBe(0)
  // Before the stall time ends the streams: reads in progress have copies for moments.
  await expect.poll(() => (heldBytes() - before) / STREAMS / MiB, { timeout: STALL_MS - 1_000 }).toBeLessThan(1)
  expect(streams()).toBe(0)
  // The server ends them; a client that does not read does not see it.
  await expect.poll(streams, { timeout: 10 * STALL_MS, interval: 200 }).toBe(STREAMS)
  end(connections)
})

it('gives the whole log to a reader that pauses', async () => {
  const connection = await openConnection(api.url)
  connection.socket.write(requestHead(`GET /v1/executions/${executionId}/events`, { key: api.owner, headers: { connection: 'close' } }))
  await expect.poll(() => connection.received().length).toBeGreaterThan(MiB)
  connection.socket.pause()
  await new Promise((resolve) => setTimeout(resolve, STALL_MS / 2))
  connection.socket.resume()
  await expect.poll(connection.isClosed, { timeout: 20_000 }).toBe(true)
  expect(connection.received().match(/^event: output$/gm)).toHaveLength(190)
  expect(connection.received()).toContain('event: done')
})

it('refuses a tenant whose unread answers fill its share, serves another tenant, and frees them after the stall time', async () => {
  const before = heldBytes()
  const line = `GET /v1/executions/${executionId}?inline=all`
  const answers = () => api.events.filter(({ route }) => route === 'getExecution')
  const seen = answers().length
  const connections = await unread(line, 2)
  await expect.poll(() => answers().length, { timeout: 20_000 }).toBe(seen + 2)
  // These wait for space until the ones above have held theirs for too long to wait for.
  const refused = await Promise.all(Array.from({ length: 8 }, () => api.fetch(`/v1/executions/${executionId}`)))
  expect(
    answers()
      .slice(seen, seen + 2)
      .map(({ status }) => status),
  ).toEqual([200, 200])
  expect(refused.map((answer) => [answer.status, answer.headers.get('x-limit-name')])).toEqual(
    refused.map(() => [429, 'max_result_bytes_in_flight']),
  )
  expect((heldBytes() - before) / MiB).toBeLessThan(SHARE / MiB + 4)
  const other = await api.fetch('/v1/containers', { key: api.otherTenant })
  expect(other.status).toBe(200)
  await expect
    .poll(async () => (await api.fetch(`/v1/executions/${executionId}`)).status, { timeout: 10 * STALL_MS, interval: 200 })
    .toBe(200)
  end(connections)
}, 60_000)

it('sends a large answer to a reader that is slow but never stalls', async () => {
  const connection = await openConnection(api.url, { isReading: false })
  let bytes = 0
  connection.socket.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength
    connection.socket.pause()
    setTimeout(() => connection.socket.resume(), 60)
  })
  connection.socket.write(requestHead(`GET /v1/executions/${executionId}?inline=all`, { key: api.owner, headers: { connection: 'close' } }))
  // 7 MB at 64 KiB per 60 ms take longer than the stall time.
  const startedAt = Date.now()
  await expect.poll(connection.isClosed, { timeout: 30_000 }).toBe(true)
  expect(bytes).toBeGreaterThan(7_000_000)
  expect(Date.now() - startedAt).toBeGreaterThan(STALL_MS)
}, 60_000)
