// The process of the network gateway: the server forks it and speaks to it over its channel.
import { link as linkFile, readFile, rm, writeFile } from 'node:fs/promises'
import * as z from 'zod'
import { LOCAL_DRIVERS } from '../../adapters/drivers/registry.ts'
import type { FromGateway, GatewaySettings, ToGateway } from '../../adapters/gateway/messages.ts'
import { createSupervisorClient } from '../../adapters/supervisor-client/supervisor-client.ts'
import { CertificateIssuer, createAuthority, type Authority } from '../../workers/gateway/certificates.ts'
import { Gateway } from '../../workers/gateway/gateway.ts'
import { connectToSandboxes } from './sandboxes.ts'

const AuthorityFile = z.object({ certificate: z.string(), privateKey: z.string() })

const tell = (message: FromGateway): void => {
  if (process.connected) process.send?.(message, undefined, {}, () => undefined)
}

/** The authority of this deployment: it stays, so that running sandboxes trust a restarted gateway. */
async function openAuthority(file: string): Promise<Authority> {
  const found = await readFile(file, 'utf8').catch(() => null)
  if (found !== null) return AuthorityFile.parse(JSON.parse(found))
  const incoming = `${file}.${process.pid}`
  await writeFile(incoming, JSON.stringify(await createAuthority(Date.now())), { mode: 0o600 })
  // The first of several processes wins.
  await linkFile(incoming, file).catch(() => undefined)
  await rm(incoming)
  return AuthorityFile.parse(JSON.parse(await readFile(file, 'utf8')))
}

async function start({ driver, authorityFile, extraCa, privateHosts }: GatewaySettings): Promise<Gateway> {
  const authority = await openAuthority(authorityFile)
  const { link } = connectToSandboxes(z.enum(LOCAL_DRIVERS).parse(driver))
  const gateway = new Gateway({
    supervisor: createSupervisorClient({ link }),
    issuer: new CertificateIssuer(authority),
    upstream: { extraCa, privateHosts },
    report: (report) => tell({ type: 'report', report }),
    onGone: (containerId) => tell({ type: 'gone', containerId }),
    now: Date.now,
  })
  tell({ type: 'started', certificate: authority.certificate })
  return gateway
}

let gateway: Promise<Gateway> | null = null

process.on('message', (message: ToGateway) => {
  if (message.type === 'start') {
    gateway = start(message.settings)
    return
  }
  void gateway?.then((running) => {
    if (message.type === 'attach') running.attach(message.attachment)
    else if (message.type === 'detach') running.detach(message.containerId)
    // After every report so far, because the channel keeps the order.
    tell({ type: 'done', number: message.number })
  })
})
// The server has ended, and with it everything that this process is for.
process.on('disconnect', () => process.exit(0))
// A terminal's Ctrl-C reaches every process of its group. The server ends this one after the executions have ended.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
