import { readFile } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../support/start-api.ts'

/** More than the 511 that Node asks for. */
const AT_ONCE = 1_000
/** Opens them, counts in `connected[0]`, and sets `connected[1]` when the last one is connected. */
const CLIENT = `
const { connect } = require('node:net')
const { hostname, port, count, connected } = require('node:worker_threads').workerData
const onConnect = () => {
  if (Atomics.add(connected, 0, 1) + 1 < count) return
  Atomics.store(connected, 1, 1)
  Atomics.notify(connected, 1)
}
for (let at = 0; at < count; at++) connect({ host: hostname, port: Number(port) }, onConnect).on('error', () => undefined)`

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

it('lets clients connect while it is busy, also many at once', async () => {
  const most = Number(await readFile('/proc/sys/net/core/somaxconn', 'utf8'))
  const { hostname, port } = new URL(api.url)
  const connected = new Int32Array(new SharedArrayBuffer(8))
  const client = new Worker(CLIENT, { eval: true, workerData: { hostname, port, count: Math.min(AT_ONCE, most), connected } })
  try {
    // The server shares this thread, so it accepts none of them meanwhile.
    expect(Atomics.wait(connected, 1, 0, 20_000), `${connected[0]} connected`).not.toBe('timed-out')
  } finally {
    await client.terminate()
  }
})
