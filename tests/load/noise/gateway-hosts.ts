import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { ensureSandboxImage } from '../../../scripts/setup/sandbox-image.ts'
import { createAdminKey } from '../../support/create-tenant.ts'
import type { LocalServerProcess } from '../../support/local-server.ts'
import { internetAuthority, startMirror } from '../../support/mirror.ts'
import { ensureNetworkClientsImage } from '../../support/network-clients-image.ts'
import { HOSTILE_HOST, MANY_HOSTS } from './gateway-forms.ts'
import { OTHER_HOST } from './other-tenant.ts'

/** The internet of a server whose gateway is measured: a host of each tenant. */
export interface GatewayHosts extends AsyncDisposable {
  /** Of the server. */
  readonly env: Readonly<Record<string, string>>
  readonly hostilePolicy: unknown
  readonly otherPolicy: unknown
  /** Lets every tenant have its policy. */
  allow(server: LocalServerProcess): Promise<void>
}

const SECRETS = 32
/** Each differs from what the host answers in one character only. */
const secretValue = (at: number): string => `${'a'.repeat(4_000 + at)}b${'a'.repeat(4_000)}`

export async function startGatewayHosts(): Promise<GatewayHosts> {
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-noise-'))
  const other = await startMirror([OTHER_HOST], (_, response) => response.end('answer'))
  const worker = new Worker(join(import.meta.dirname, 'gateway-mirror.ts'))
  const [{ port, certificate }] = (await once(worker, 'message')) as [{ readonly port: number; readonly certificate: string }]
  await writeFile(join(folder, 'ca.pem'), `${(await internetAuthority()).certificate}\n${certificate}\n`)
  return {
    env: {
      CELLBLOCK_SANDBOX_IMAGE: await ensureNetworkClientsImage(await ensureSandboxImage(() => undefined)),
      CELLBLOCK_NETWORK: 'on',
      CELLBLOCK_NETWORK_CA: join(folder, 'ca.pem'),
      CELLBLOCK_NETWORK_PRIVATE_HOSTS: `${HOSTILE_HOST}=127.0.0.1:${port},${OTHER_HOST}=127.0.0.1:${other.port}`,
    },
    hostilePolicy: {
      allow: [{ host: HOSTILE_HOST }, { host: MANY_HOSTS }],
      secrets: Array.from({ length: SECRETS }, (_, at) => `S${at}`),
      container_secrets: Array.from({ length: SECRETS }, (_, at) => ({ name: `S${at}`, hosts: [HOSTILE_HOST], value: secretValue(at) })),
    },
    otherPolicy: { allow: [{ host: OTHER_HOST }] },
    async allow(server) {
      const admin = server.as(await createAdminKey(server))
      const { data } = await admin.json<{ data: readonly { id: string }[] }>('GET', '/v1/admin/tenants?limit=100')
      for (const { id } of data) await admin.json('POST', `/v1/admin/tenants/${id}`, { network: { ceiling: { allow: [{ host: '*' }] } } })
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate()
      await other[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
