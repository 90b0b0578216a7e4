import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Agent, fetch as fetchThrough, type Response } from 'undici'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DRIVERS } from '../../../services/adapters/drivers/registry.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { createAdministration } from '../../../services/entries/api/administration.ts'
import { openControlSocket, type ControlSocket } from '../../../services/entries/local/control-socket.ts'
import { singleImage } from '../../../services/model/containers/images.ts'
import { systemClock } from '../../../services/ports/clock.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'

let storage: Storage
let control: ControlSocket
let dispatcher: Agent
beforeAll(async () => {
  storage = await startStorage()
  const administer = createAdministration({
    ...storage,
    signals: createLocalSignals(),
    clock: systemClock,
    telemetry: { emit: () => undefined },
    images: singleImage('cellblock-sandbox:test'),
    prices: DRIVERS.docker.prices,
  })
  control = await openControlSocket({ administer, backUp: null })
  dispatcher = new Agent({ connect: { socketPath: control.path } })
})
afterAll(async () => {
  await dispatcher.close()
  await control.close()
  await storage.stop()
})

const send = (method: string, path: string, body?: object): Promise<Response> =>
  fetchThrough(`http://localhost${path}`, {
    dispatcher,
    method,
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })

it('is open to its own user only', async () => {
  expect((await stat(control.path)).mode & 0o777).toBe(0o600)
  expect((await stat(dirname(control.path))).mode & 0o777).toBe(0o700)
})

it('administers tenants without a key, and audits who did it', async () => {
  const created = await send('POST', '/v1/admin/tenants', { name: 'Acme' })
  expect(created.status).toBe(201)
  const { id } = (await created.json()) as { readonly id: string }
  expect(await storage.table.audit.recent(id, 5)).toMatchObject([{ keyId: 'implicit_administrator', action: 'createTenant', status: 201 }])
})

it('gives neither rows nor what belongs to a tenant', async () => {
  expect((await send('POST', '/', { call: 'items', method: 'scan', args: [''] })).status).toBe(404)
  expect((await send('GET', '/v1/containers')).status).toBe(403)
})

it('explains why a storage in AWS is not backed up', async () => {
  const refused = await send('POST', '/backup', { folder: '/tmp/none' })
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('is in AWS')])
})
