import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createAdminKey } from '../../support/create-tenant.ts'
import type { LocalServerProcess } from '../../support/local-server.ts'
import { internetAuthority, startAddressMirror, startMirror } from '../../support/mirror.ts'
import { startVisitors } from './visitors.ts'

/** The host that E2B's tests ask for an empty answer. */
const CONNECTIVITY = 'connectivitycheck.gstatic.com'
/** The addresses that they ask, with the status of the answer. */
const ADDRESSES = { '1.1.1.1': 301, '8.8.8.8': 302 } as const
/** Below it sandboxes have their host names. */
const DOMAIN = 'sandboxes.example.net'
const CEILING_MS = 30_000

/** The part of the internet that E2B's tests use, on loopback, for a server whose tenants may reach every host. */
interface Internet extends AsyncDisposable {
  /** Variables of the server. */
  readonly env: Readonly<Record<string, string>>
  /** Variables of the tests, which reach ports of sandboxes over HTTPS. */
  readonly testsEnv: Readonly<Record<string, string>>
  /** Joins it with the server, once that is started. */
  open(server: LocalServerProcess): Promise<void>
}

/** The server reads what applies to a tenant again after some seconds. */
async function untilAllowed({ native }: LocalServerProcess): Promise<void> {
  for (const deadline = Date.now() + CEILING_MS; Date.now() < deadline; await delay(500)) {
    const answer = await native.call('POST', '/v1/containers', { name: 'ceiling', network: { allow: [{ host: '*' }] } })
    if (!answer.ok) continue
    const { id } = (await answer.json()) as { readonly id: string }
    await native.call('DELETE', `/v1/containers/${id}`)
    return
  }
  throw new Error('The tenant may not reach every host, although its ceiling was set.')
}

const answering =
  (status: number): RequestListener =>
  (_, response) =>
    response.writeHead(status).end()

export async function startInternet(): Promise<Internet> {
  await using started = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-e2b-network-'))
  started.defer(() => rm(folder, { recursive: true, force: true }))
  const authority = join(folder, 'ca.pem')
  await writeFile(authority, (await internetAuthority()).certificate)
  const hosts = { [CONNECTIVITY]: started.use(await startMirror([CONNECTIVITY], answering(204))).port } as Record<string, number>
  for (const [address, status] of Object.entries(ADDRESSES))
    hosts[address] = started.use(await startAddressMirror(address, answering(status))).port
  const visitors = started.use(await startVisitors(DOMAIN))
  const running = started.move()
  return {
    env: {
      CELLBLOCK_NETWORK: 'on',
      CELLBLOCK_NETWORK_CA: authority,
      CELLBLOCK_E2B_DOMAIN: DOMAIN,
      CELLBLOCK_NETWORK_PRIVATE_HOSTS: Object.entries(hosts)
        .map(([host, port]) => `${host}=127.0.0.1:${port}`)
        .join(','),
    },
    testsEnv: { HTTPS_PROXY: visitors.url, NODE_USE_ENV_PROXY: '1', NODE_EXTRA_CA_CERTS: authority, SSL_CERT_FILE: authority },
    async open(server) {
      visitors.leadTo(Number(new URL(server.url).port))
      const admin = server.as(await createAdminKey(server))
      const { data } = await admin.json<{ data: readonly { id: string }[] }>('GET', '/v1/admin/tenants?limit=100')
      const { tenant_id: tenant } = await server.native.json<{ tenant_id: string }>('GET', '/v1/key')
      for (const id of new Set([tenant, ...data.map((one) => one.id)]))
        await admin.json('POST', `/v1/admin/tenants/${id}`, { network: { ceiling: { allow: [{ host: '*' }] } } })
      await untilAllowed(server)
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
