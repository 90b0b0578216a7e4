import { once } from 'node:events'
import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkPrograms, programsFor } from '../../scripts/doctor/account/hostile-programs.ts'
import { checkLongCall } from '../../scripts/doctor/account/long-call-check.ts'
import { withContainer, type Api } from '../../scripts/doctor/account/service-calls.ts'
import { checkStreaming } from '../../scripts/doctor/account/streaming-check.ts'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

let server: LocalServerProcess
let api: Api
beforeAll(async () => {
  server = await startServer({ env: { CELLBLOCK_POOL: '1' } })
  api = { url: server.url, key: server.apiKey }
})
afterAll(() => server.stop())

it('the programs of the doctor have no effect outside a real sandbox', async () => {
  const all = programsFor('eu-west-1')
  expect(all.length).toBeGreaterThan(35)
  // Its own two and a sample. The security suite runs the whole corpus.
  const programs = all.filter((_, index) => index < 2 || index % 4 === 0)
  const finding = await withContainer(api, (container) => checkPrograms(container, programs))
  expect(finding).toMatchObject({ check: 'Worker', outcome: 'ok' })
})

it('the doctor detects that a server streams, and that a proxy in front of it buffers', async () => {
  const program = { lines: 10, pauseMs: 200 }
  const proxy = createServer((asked, answer) => {
    const passed = send(new URL(asked.url ?? '/', server.url), { method: asked.method, headers: asked.headers }, (got) => {
      const parts: Buffer[] = []
      got
        .on('data', (part: Buffer) => parts.push(part))
        .on('end', () => answer.writeHead(got.statusCode ?? 502, got.headers).end(Buffer.concat(parts)))
    })
    asked.pipe(passed)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const buffered = { ...api, url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` }
  try {
    await withContainer(api, async (container) => {
      expect(await checkStreaming(container, program)).toMatchObject({ check: 'Streaming', outcome: 'ok' })
      expect(await checkStreaming({ ...container, api: buffered }, program)).toMatchObject({ outcome: 'fail' })
    })
  } finally {
    proxy.closeAllConnections()
    proxy.close()
  }
})

it('the doctor makes a plain call whose code runs for the requested time', async () => {
  const finding = await withContainer(api, (container) => checkLongCall(container, { seconds: 2 }))
  expect(finding).toMatchObject({ check: 'Long call', outcome: 'ok' })
})
