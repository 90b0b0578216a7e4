import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAdminKey } from '../../support/create-tenant.ts'
import type { LocalServerProcess } from '../../support/local-server.ts'
import { internetAuthority, startMirror } from '../../support/mirror.ts'

/** The host that E2B's tests ask for an empty answer. */
const CONNECTIVITY = 'connectivitycheck.gstatic.com'

/** The part of the internet that E2B's tests use, for a server whose tenants may reach every host. */
interface Internet extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>
  allow(server: LocalServerProcess): Promise<void>
}

export async function startInternet(): Promise<Internet> {
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-e2b-network-'))
  await writeFile(join(folder, 'ca.pem'), (await internetAuthority()).certificate)
  const mirror = await startMirror([CONNECTIVITY], (_, response) => response.writeHead(204).end())
  return {
    env: {
      CELLBLOCK_NETWORK: 'on',
      CELLBLOCK_NETWORK_CA: join(folder, 'ca.pem'),
      CELLBLOCK_NETWORK_PRIVATE_HOSTS: `${CONNECTIVITY}=127.0.0.1:${mirror.port}`,
    },
    async allow(server) {
      const admin = server.as(await createAdminKey(server))
      const { data } = await admin.json<{ data: readonly { id: string }[] }>('GET', '/v1/admin/tenants?limit=100')
      const { tenant_id: tenant } = await server.native.json<{ tenant_id: string }>('GET', '/v1/key')
      for (const id of new Set([tenant, ...data.map((one) => one.id)]))
        await admin.json('POST', `/v1/admin/tenants/${id}`, { network: { ceiling: { allow: [{ host: '*' }] } } })
    },
    async [Symbol.asyncDispose]() {
      await mirror[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
