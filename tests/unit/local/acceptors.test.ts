import { createServer, type Server } from 'node:http'
import { readFile } from 'node:fs/promises'
import { setImmediate as nextPass } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { listenOn, type Acceptors } from '../../../services/entries/local/acceptors.ts'

const host = '127.0.0.1'
/** More than the 511 that Node asks for. */
const AT_ONCE = 1_000
/** Opens them, counts in `connected[0]`, and sets `connected[1]` when the last one is connected. */
const CLIENT = `
const { connect } = require('node:net')
const { host, port, count, connected } = require('node:worker_threads').workerData
const onConnect = () => {
  if (Atomics.add(connected, 0, 1) + 1 < count) return
  Atomics.store(connected, 1, 1)
  Atomics.notify(connected, 1)
}
for (let at = 0; at < count; at++) connect({ host, port }, onConnect).on('error', () => undefined)`

let server: Server
let acceptors: Acceptors
beforeEach(async () => {
  server = createServer()
  acceptors = await listenOn(server, { host, port: 0 })
})
afterEach(async () => {
  const closed = acceptors.close()
  server.closeAllConnections()
  await closed
})

it.runIf(process.platform === 'linux')(
  'lets many clients connect at once while it is busy, and accepts several of them in each pass',
  async () => {
    const count = Math.min(AT_ONCE, Number(await readFile('/proc/sys/net/core/somaxconn', 'utf8')))
    const connected = new Int32Array(new SharedArrayBuffer(8))
    const client = new Worker(CLIENT, { eval: true, workerData: { host, port: acceptors.port, count, connected } })
    try {
      // The server shares this thread, so it accepts none of them meanwhile.
      expect(Atomics.wait(connected, 1, 0, 20_000), `${connected[0]} connected`).not.toBe('timed-out')
      let accepted = 0
      server.on('connection', () => accepted++)
      let passes = 0
      for (; accepted < count; passes++) await nextPass()
      expect(passes).toBeLessThan(count / 4)
    } finally {
      await client.terminate()
    }
  },
)

it('refuses a port that another server has', async () => {
  await expect(listenOn(createServer(), { host, port: acceptors.port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
})
