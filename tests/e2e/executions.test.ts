import { afterAll, beforeAll, expect } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'
import { executionsSuite } from './executions.ts'

let server: LocalServerProcess
beforeAll(async () => {
  server = await startServer({ env: { SANDBOX_PRELOAD: '' } })
})
afterAll(async () => {
  expect(await server.stop()).toBe(0)
})

executionsSuite(() => ({ native: server.native, open: fetch }))
