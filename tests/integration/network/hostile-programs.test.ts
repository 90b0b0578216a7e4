import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createSandboxLink } from '../../../services/adapters/link/create-sandbox-link.ts'
import { createSupervisorClient } from '../../../services/adapters/supervisor-client/supervisor-client.ts'
import { networkVariables } from '../../../services/model/network/sandbox-variables.ts'
import type { NetworkAttachment } from '../../../services/ports/network-gateway.ts'
import { CertificateIssuer, createAuthority } from '../../../services/workers/gateway/certificates.ts'
import { Gateway } from '../../../services/workers/gateway/gateway.ts'
import { internetAuthority, startMirror, startPlainMirror, type Mirror } from '../../support/mirror.ts'
import { ensureNetworkClientsImage } from '../../support/network-clients-image.ts'
import { ATTACHMENT } from '../../support/start-proxy.ts'
import { startReadySandbox, type TestSandbox } from '../supervisor/start-sandbox.ts'
import { ALLOWED, DENIED, INWARD, NEIGHBOUR, NETWORK_PROGRAMS, PLACEHOLDER, PRELUDE, REBINDING } from './hostile-programs.ts'

const VALUE = 'sk-live-0123456789'
const INWARD_ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  [INWARD.loopback]: ['127.0.0.1'],
  [INWARD.mapped]: ['::ffff:127.0.0.1'],
  [INWARD.meta]: ['169.254.169.254'],
  [INWARD.shared]: ['100.64.0.1'],
  [REBINDING]: ['93.184.215.14', '10.0.0.1'],
}

let sandboxes: readonly TestSandbox[] = []
let gateway: Gateway
let allowed: Mirror
let tripwire: Mirror
let plain: Mirror
/** Names that the gateway has resolved. */
const resolved = new Set<string>()
/** Requests that reached the allowed host. */
const received: string[] = []
let stored = ''

const link = createSandboxLink({ kinds: ['unix'] })

const sessionOf = ({ id, socketPath, privateKey }: TestSandbox): NetworkAttachment['session'] => ({
  sandboxId: id,
  address: { kind: 'unix', socketPath },
  privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64url'),
})

beforeAll(async () => {
  allowed = await startMirror([ALLOWED, DENIED, NEIGHBOUR], (request, response) => {
    received.push(`${request.method} ${request.headers.host}${request.url}`)
    const key = `${String(request.headers['x-key'])} ${String(request.headers.authorization)}`
    if (request.url === '/read/store') stored = key
    if (request.url === '/read/header') response.setHeader('x-echo', key)
    if (request.url === '/read/redirect') response.writeHead(302, { location: `https://${DENIED}/?${encodeURIComponent(key)}` })
    if (request.url === '/read/gzip') response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(key))
    else response.end(request.url === '/write' ? 'wrote' : `read ${String(request.headers['x-http-method-override'])} ${key} ${stored}`)
  })
  tripwire = await startMirror([DENIED, NEIGHBOUR], (_, response) => response.end('reached'))
  plain = await startPlainMirror((request, response) => response.end(`plain ${String(request.headers['x-key'])}`))
  const image = await ensureNetworkClientsImage(inject('sandboxImage'))
  sandboxes = await Promise.all([startReadySandbox({ image }), startReadySandbox({ image })])
  const at = ({ port }: Mirror) => ({ address: '127.0.0.1', port })
  const authority = await createAuthority(Date.now())
  const supervisor = createSupervisorClient({ link })
  gateway = new Gateway({
    supervisor,
    issuer: new CertificateIssuer(authority),
    upstream: {
      extraCa: [(await internetAuthority()).certificate],
      privateHosts: { [ALLOWED]: at(allowed), [DENIED]: at(tripwire), [NEIGHBOUR]: at(tripwire) },
      resolve: (name, _options, callback) => {
        resolved.add(name)
        callback(
          null,
          (INWARD_ADDRESSES[name] ?? ['127.0.0.1']).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        )
      },
    },
    report: () => undefined,
    onGone: () => undefined,
    now: Date.now,
  })
  const [own, neighbour] = sandboxes
  if (own === undefined || neighbour === undefined) throw new Error('There are no sandboxes.')
  for (const sandbox of sandboxes) await supervisor.openNetwork(sessionOf(sandbox), authority.certificate)
  gateway.attach({
    ...ATTACHMENT,
    session: sessionOf(own),
    rules: [{ host: ALLOWED, methods: ['GET'], paths: ['/read/**'] }, ...Object.keys(INWARD_ADDRESSES).map((host) => ({ host }))],
    secrets: [{ name: 'TOKEN', placeholder: PLACEHOLDER, hosts: [ALLOWED], value: VALUE }],
  })
  gateway.attach({ ...ATTACHMENT, containerId: 'cntr_neighbour', session: sessionOf(neighbour), rules: [{ host: NEIGHBOUR }] })
  await own.supervisor.run(PRELUDE)
})
afterAll(async () => {
  gateway?.close()
  await link.close()
  await Promise.all([...sandboxes, allowed, tripwire, plain].map((part) => part[Symbol.asyncDispose]()))
})

/** Packets that the sandbox's own network devices have sent. */
async function packets(): Promise<string> {
  const [own] = sandboxes
  return (await own?.docker('exec', own.name, 'cat', '/proc/net/dev', '/proc/net/udp', '/proc/net/tcp')) ?? ''
}

describe.each(NETWORK_PROGRAMS.map((program) => ({ ...program, title: `${program.family}: ${program.name}` })))(
  '$title',
  ({ code, expected }) => {
    it('is refused, sends no packet and reaches nothing', async () => {
      const before = await packets()
      const run = await sandboxes[0]?.supervisor.run(code, { env: { ...networkVariables([]), TOKEN: PLACEHOLDER } })
      const printed = (run?.stdout ?? '').trim()
      for (const line of printed === '' ? [run?.error?.value ?? ''] : printed.split('\n')) expect(line).toMatch(expected)
      expect(tripwire.connections()).toBe(0)
      expect(received.filter((line) => !line.startsWith(`GET ${ALLOWED}/read/`))).toEqual([])
      expect([...resolved].filter((name) => !(name in INWARD_ADDRESSES))).toEqual([])
      expect(await packets()).toBe(before)
    })
  },
)

it('the allowed request of the same programs arrives, with the secret', async () => {
  const run = await sandboxes[0]?.supervisor.run(
    `print(ask(["GET /read/x HTTP/1.1", "Host: ${ALLOWED}", f"X-Key: {P}"]).split("\\r\\n")[0])`,
    { env: networkVariables([]) },
  )
  expect(run?.stdout).toBe('HTTP/1.1 200 OK\n')
})
