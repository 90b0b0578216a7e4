import { afterAll, beforeAll, expect, it } from 'vitest'
import { emptyResult } from '../../services/model/executions/empty-result.ts'
import { recordUsage } from '../../services/operations/usage/record-usage.ts'
import { dayOf } from '../../services/model/usage/usage.ts'
import { executionRow, T0 } from '../support/rows.ts'
import { startStorage, type Storage } from '../support/start-storage.ts'

let storage: Storage
beforeAll(async () => {
  storage = await startStorage()
})
afterAll(() => storage.stop())

const result = (() => {
  const empty = emptyResult(executionRow(), T0)
  return {
    ...empty,
    usage: { ...empty.usage, sandboxSeconds: 2, cpuMs: 3, sandboxCpuMs: 7, peakMemoryBytes: 4, outputBytes: 5, costUsd: 0.5 },
  }
})()

it.each(['in its row', 'in an object'])(
  'counts an execution once, by the day on which it was accepted, with its result %s',
  async (where) => {
    const objectKey = 'tenants/t/c/results/x'
    const { bytes } = await storage.objects.put(objectKey, Buffer.from(JSON.stringify(result)), { contentType: 'application/json' })
    const isInline = where === 'in its row'
    const row = executionRow({ subject: 'anna', result: isInline ? result : null, resultRef: isInline ? null : { objectKey, bytes } })
    await recordUsage(storage, row)
    await recordUsage(storage, row)
    expect(await storage.table.usage.ofDay(row.tenant, dayOf(T0))).toEqual([
      {
        v: 1,
        tenant: row.tenant,
        subject: 'anna',
        executionId: row.id,
        day: dayOf(T0),
        sandboxSeconds: 0,
        cpuMs: 7,
        peakMemoryBytes: 4,
        outputBytes: 5,
        costUsd: 0,
      },
    ])
  },
)

it('lets a container continue when a result is missing', async () => {
  const row = executionRow({ resultRef: { objectKey: 'tenants/t/c/results/none', bytes: 1 } })
  await recordUsage(storage, row)
  expect(await storage.table.usage.ofDay(row.tenant, dayOf(T0))).toEqual([])
})
