// Dify's plugin for E2B, unmodified, in front of a server: its tools are called as Dify's plugin daemon calls them.
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { createServer, type Server, type TlsOptions } from 'node:tls'
import { runCommand } from '../../../scripts/setup/command.ts'
import { readSetupConfig } from '../../../scripts/setup/config.ts'
import { ensurePythonPackages } from '../../../scripts/setup/python-packages.ts'
import { CertificateIssuer } from '../../../services/workers/gateway/certificates.ts'
import { createTenant } from '../../support/create-tenant.ts'
import { internetAuthority } from '../../support/mirror.ts'
import { startRestartable } from '../restartable-server.ts'
import { unpackCommit } from '../unpack-commit.ts'

const HERE = import.meta.dirname
const CACHE = join(HERE, '../../../.cellblock')
const PYTHON = join(CACHE, 'dify-plugin-python')
const COPY = join(CACHE, 'dify-plugin')
/** The plugin of this commit, whatever the clone has checked out. */
const COMMIT = '7af22831a58ded846388b8de0c232b2b377a1055'
const PLUGIN = 'tools/e2b'
const DOMAIN = 'sandboxes.example.net'

/** Runs the tools of the plugin from a clone in `folder`. Returns whether all pass. */
export async function runDifyPlugin({ folder }: { readonly folder: string }): Promise<boolean> {
  await unpackCommit({ folder, owner: 'langgenius', repository: 'dify-official-plugins', commit: COMMIT, path: PLUGIN, target: COPY })
  const onLine = (line: string): void => void process.stdout.write(`${line}\n`)
  const packages = { folder: PYTHON, requirements: join(HERE, 'requirements.txt') }
  await ensurePythonPackages(packages, { config: readSetupConfig(), mayInstall: false }, onLine)
  const server = await startRestartable({ SANDBOX_PRELOAD: '', CELLBLOCK_E2B_DOMAIN: DOMAIN })
  const proxy = await startTlsProxy(Number(new URL(server.url).port))
  const authority = join(COPY, 'ca.pem')
  await writeFile(authority, (await internetAuthority()).certificate)
  try {
    const env = {
      ...process.env,
      SSL_CERT_FILE: authority,
      GEVENT_RESOLVER: 'names.TestNames',
      DIFY_DOMAIN: DOMAIN,
      DIFY_PROXY_PORT: String((proxy.address() as AddressInfo).port),
      DIFY_KEY: await createTenant(server, 'dify'),
      DIFY_OTHER_KEY: await createTenant(server, 'other'),
      DIFY_PLUGIN: join(COPY, PLUGIN),
      DIFY_RESTART: server.restartUrl,
    }
    const { code } = await runCommand(join(PYTHON, 'bin/python'), ['test_dify.py'], { cwd: HERE, env, onLine })
    return code === 0
  } finally {
    proxy.close()
    await server.stop()
  }
}

/** What docs/clients.md asks operators to put in front of a server: a proxy with a certificate for every name below the domain. */
async function startTlsProxy(serverPort: number): Promise<Server> {
  const issuer = new CertificateIssuer(await internetAuthority())
  const SNICallback: TlsOptions['SNICallback'] = (host, done) => void issuer.contextOf(host).then((context) => done(null, context), done)
  const proxy = createServer({ SNICallback, ALPNProtocols: ['http/1.1'] }, (visitor) => {
    const server = connect(serverPort, '127.0.0.1')
    pipeline(visitor, server, () => undefined)
    pipeline(server, visitor, () => undefined)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return proxy
}
