import { expect, it } from 'vitest'
import { AuditLog } from '../../../services/operations/audit/audit-log.ts'
import { nextBlock, type AuditEntry } from '../../../services/model/audit/audit.ts'
import type { WideEvent } from '../../../services/model/wide-event.ts'

const MAX_WAITING = 10_000
const entry = (n: number): AuditEntry => ({
  at: n,
  keyId: 'key_1',
  subject: null,
  action: 'runCode',
  status: 202,
  requestId: `req_${n}`,
  targets: { container_id: `cntr_${n}` },
})

it('names the entries that it drops in an outage, in the log lines and in the chain', async () => {
  let isDown = true
  const stored: AuditEntry[] = []
  const events: WideEvent[] = []
  const audit = {
    append: async (tenant: string, entries: readonly AuditEntry[], now: number) => {
      if (isDown) throw new Error('down')
      stored.push(...entries)
      return nextBlock(null, { tenant, entries, now })
    },
    recent: () => Promise.resolve([]),
    async *blocks() {},
  }
  const log = new AuditLog(
    { table: { audit }, clock: { now: () => 1 }, telemetry: { emit: (event) => void events.push(event) } },
    3_600_000,
  )
  for (let n = 1; n <= MAX_WAITING + 3; n++) await log.record('t', entry(n), false)
  const dropped = events.filter(({ outcome }) => outcome === 'dropped')
  expect(dropped.map((event) => event['request_id'])).toEqual(['req_1', 'req_2', 'req_3'])
  expect(dropped[0]).toMatchObject({ tenant: 't', key_id: 'key_1', action: 'runCode', targets: '{"container_id":"cntr_1"}' })

  isDown = false
  await log.record('t', entry(MAX_WAITING + 4), true)
  expect(stored).toHaveLength(MAX_WAITING + 1)
  expect(stored[0]).toMatchObject({
    action: 'auditEntriesDropped',
    targets: { count: '4', first_request_id: 'req_1', last_request_id: 'req_4' },
  })
  expect(stored[1]?.requestId).toBe('req_5')
})
