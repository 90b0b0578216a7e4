import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'
import { runMessages } from './messages/run-messages.ts'
import { WIRES } from './messages/wires.ts'

let server: LocalServerProcess
beforeAll(async () => {
  server = await startServer({ env: { CELLBLOCK_SANDBOX_IMAGE: inject('sandboxImage') } })
})
afterAll(() => server.stop())

/** `npm run test:security -- --only messages` sends more. */
it('generated messages of hostile kernels end typed on every wire, and the next call works', async () => {
  const { messages, executions, failures } = await runMessages(server, { total: WIRES.length * 400, perExecution: 400, seed: 1 })
  expect(failures).toEqual([])
  expect([messages, executions]).toEqual([WIRES.length * 400, WIRES.length])
}, 180_000)
