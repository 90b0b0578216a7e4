import { afterAll, beforeAll, expect, it } from 'vitest'
import { ServiceError } from '../../../services/model/errors.ts'
import { PORT, startPorts, type TestPorts } from '../../support/start-ports.ts'
import { startApi } from '../../support/start-api.ts'
import { terminalClient, type TerminalCall } from '../../support/terminal-client.ts'

let ports: TestPorts
let call: TerminalCall
let isReachable = true
beforeAll(async () => {
  ports = await startPorts((request, response) => void response.end(`program ${request.url}`), {
    listPorts: async () => {
      if (!isReachable) throw new ServiceError('sandbox_unavailable', 'x')
      return [PORT, 9_000]
    },
  })
  call = terminalClient(ports.api.url, ports.api.owner.key)
})
afterAll(() => ports.stop())

/** The terminal of a user, with a sandbox. */
async function terminalOf(user: string): Promise<void> {
  await call('POST', '/files/write', { user, body: { path: 'a', content: '' } })
  const { table, owner } = ports.api
  const [container] = (
    await table.containers.list(owner.tenant, { after: null, limit: 1, order: 'desc', name: `open-webui:${user}:default` })
  ).rows
  if (container === undefined) throw new Error('no container')
  await ports.giveSandbox(container)
}
const listOf = async (user: string): Promise<unknown> => (await call('GET', '/ports', { user })).json()

it('lists the ports of the own terminal, without a command', async () => {
  expect(await listOf('newcomer')).toEqual({ ports: [] })
  await terminalOf('ann')
  expect(await listOf('ann')).toEqual({ ports: [PORT, 9_000].map((port) => ({ port, pid: null, process: null })) })
  expect(await listOf('bob')).toEqual({ ports: [] })
  isReachable = false
  expect((await call('GET', '/ports', { user: 'ann' })).status).toBe(503)
  isReachable = true
})

it('leads the browser to the separate origin of the port, by a link that works once', async () => {
  await terminalOf('carol')
  for (const [path, shown] of [
    ['', '/'],
    ['/', '/'],
    ['/deep/page?a=1', '/deep/page?a=1'],
  ] as const) {
    const answer = await call('GET', `/proxy/${PORT}${path}`, { user: 'carol' })
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([303, 'no-store'])
    const link = answer.headers.get('location') ?? ''
    expect(new URL(link).host).toMatch(new RegExp(`^${PORT}-[0-9a-z]+\\.localhost:\\d+$`))
    const first = await ports.visit(link)
    expect(first.status).toBe(303)
    const cookie = String(first.headers['set-cookie']).split(';')[0] ?? ''
    const origin = new URL(link).origin
    expect(await ports.visit(`${origin}${shown}`, { headers: { cookie } })).toMatchObject({ status: 200, text: `program ${shown}` })
    expect((await ports.visit(link)).status).toBe(404)
  }
})

it.each([
  ['a user without a terminal', 'nobody', `/proxy/${PORT}/`, 404],
  ['a port that is none', 'carol', '/proxy/70000/', 404],
  ['a port that is no number', 'carol', '/proxy/x/', 404],
])('refuses %s', async (_name, user, path, status) => {
  const answer = await call('GET', path, { user })
  expect([answer.status, await answer.json()]).toMatchObject([status, { detail: expect.any(String) }])
})

it('says that ports are not offered where they have no domain', async () => {
  const without = await startApi()
  try {
    const client = terminalClient(without.url, without.owner.key)
    await client('POST', '/files/write', { body: { path: 'a', content: '' } })
    expect(await (await client('GET', '/ports')).json()).toEqual({ ports: [] })
    expect((await client('GET', `/proxy/${PORT}/`)).status).toBe(501)
  } finally {
    await without.stop()
  }
})
