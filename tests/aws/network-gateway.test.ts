import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CloudFormationClient, paginateListStackResources } from '@aws-sdk/client-cloudformation'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { repositoryTag } from '../../infra/build/image-inputs.ts'
import { bundleFunction } from '../../infra/bundle/bundle-function.ts'
import { internetAuthority, startMirror, type Mirror } from '../support/mirror.ts'
import { ensureNetworkClientsImage } from '../support/network-clients-image.ts'
import { openAccount, type Account, type AccountTenant } from './support/emulated-account.ts'

const HOST = 'api.example.com'
const OTHER = 'other.example.com'
const VALUE = 'sk-live-0123456789abcdef'
const FETCH = `
import os, urllib.request
def fetch(host):
    request = urllib.request.Request(f"https://{host}/", headers={"authorization": os.environ.get("API_KEY", "none")})
    try:
        return urllib.request.urlopen(request, timeout=60).read().decode()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
`

let account: Account
let tenant: AccountTenant
let folder: string
let mirror: Mirror
let environment: Readonly<Record<string, string | undefined>>
let gateway: ChildProcess
let container: string
/** What requests to the mirror had as their header. */
const received: (string | undefined)[] = []

/** The physical id of the secret of the gateway's keys: a task gets it as a variable, and the emulator has no such task. */
async function keysArn(): Promise<string> {
  for await (const page of paginateListStackResources(
    { client: new CloudFormationClient(account.sdk) },
    { StackName: 'Cellblock-emulated-Data' },
  ))
    for (const { LogicalResourceId = '', PhysicalResourceId } of page.StackResourceSummaries ?? [])
      if (LogicalResourceId.startsWith('NetworkKeys') && PhysicalResourceId !== undefined) return PhysicalResourceId
  throw new Error('The stack has no keys of a network gateway.')
}

/** The program of the task, beside the emulator. */
function startGateway(): void {
  gateway = spawn(process.execPath, [join(folder, 'index.mjs')], { env: { ...environment }, stdio: ['ignore', 'ignore', 'inherit'] })
}
async function kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
  const ended = once(gateway, 'exit') as Promise<[number | null]>
  gateway.kill(signal)
  return (await ended)[0]
}

const setPolicy = (policy: object): Promise<Response> => tenant.native.call('PUT', `/v1/containers/${container}/network`, policy)
const fetchFrom = async (host: string): Promise<string> => {
  const { status, stdout, lost } = await tenant.native.run(container, `${FETCH}\nprint(fetch("${host}"))`)
  return status === 'succeeded' ? stdout.trim() : `${status}: ${lost.map(({ reason }) => reason).join(' ')}`
}

beforeAll(async () => {
  const image = await ensureNetworkClientsImage(inject('sandboxImage'))
  folder = await mkdtemp(join(tmpdir(), 'cellblock-gateway-'))
  await bundleFunction('services/entries/aws/gateway/main.ts', folder)
  mirror = await startMirror([HOST, OTHER], ({ headers }: IncomingMessage, response) => {
    received.push(headers.authorization)
    response.end(`answer ${String(headers.authorization)}`)
  })
  account = await openAccount(image)
  const { adminKey } = await account.deploy({ warm: 0, imageTag: repositoryTag(image), gateway: true })
  tenant = await account.createTenant('acme')
  const ceiling = { allow: [{ host: HOST }, { host: OTHER }] }
  const set = await fetch(`${account.url()}/v1/admin/tenants/${tenant.id}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ network: { ceiling } }),
  })
  expect(set.status).toBe(200)
  container = await tenant.native.createContainer('network')
  const authority = join(folder, 'authority.pem')
  await writeFile(authority, (await internetAuthority()).certificate)
  const at = `127.0.0.1:${mirror.port}`
  environment = {
    ...account.environment,
    ...(await account.functionVariables('run')),
    NETWORK_KEYS_ARN: await keysArn(),
    PRIVATE_HOSTS: `${HOST}=${at},${OTHER}=${at}`,
    NODE_EXTRA_CA_CERTS: authority,
  }
}, 400_000)
afterAll(async () => {
  gateway?.kill('SIGKILL')
  await account?.stop()
  await mirror?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

it('refuses a secret and runs no code with a policy before a gateway has started', { timeout: 180_000 }, async () => {
  const secrets = { container_secrets: [{ name: 'API_KEY', hosts: [HOST], value: VALUE }] }
  const refused = await setPolicy({ allow: [{ host: HOST }], secrets: ['API_KEY'], ...secrets })
  expect([refused.status, await refused.json()]).toMatchObject([503, { error: { code: 'not_ready' } }])
  expect((await setPolicy({ allow: [{ host: HOST }] })).status).toBe(200)
  expect(await fetchFrom(HOST)).toMatch(/^failed: .*The network gateway did not answer/)
  expect(mirror.connections()).toBe(0)
})

it(
  'carries requests of a container to an allowed host and to no other, with a secret that code does not see',
  { timeout: 180_000 },
  async () => {
    startGateway()
    const leader = async () => (await account.table().attachments.leader())?.sealingKey ?? null
    await expect.poll(leader, { timeout: 60_000 }).not.toBeNull()
    const secrets = { container_secrets: [{ name: 'API_KEY', hosts: [HOST], value: VALUE }] }
    expect((await setPolicy({ allow: [{ host: HOST }], secrets: ['API_KEY'], ...secrets })).status).toBe(200)
    expect(await fetchFrom(HOST)).toBe(`answer ${'*'.repeat(VALUE.length)}`)
    expect(received).toEqual([VALUE])
    expect(await fetchFrom(OTHER)).toContain(`This container may not reach ${OTHER}.`)
    expect(received.length).toBe(1)
    const [stored] = await account.table().secrets.list(tenant.id, container)
    expect(JSON.stringify(stored)).not.toContain(VALUE)
    // The log of requests is written by the gateway.
    const requests = () => tenant.native.json<{ data: object[] }>('GET', `/v1/containers/${container}/network/requests`)
    await expect.poll(async () => (await requests()).data.length, { timeout: 30_000 }).toBe(2)
  },
)

it('enforces a new policy when its call has answered', { timeout: 120_000 }, async () => {
  expect((await setPolicy({ allow: [{ host: OTHER }] })).status).toBe(200)
  expect(await fetchFrom(OTHER)).toContain('answer')
  expect(await fetchFrom(HOST)).toContain(`This container may not reach ${HOST}.`)
})

it('is closed after it was killed, and the next process serves what the first one served', { timeout: 240_000 }, async () => {
  await kill('SIGKILL')
  const before = mirror.connections()
  const running = await tenant.native.run(container, 'import time\ntime.sleep(1)', 0)
  expect((await tenant.native.ended(running.id)).status).toBe('failed')
  expect(mirror.connections()).toBe(before)
  startGateway()
  const served = async () => {
    const row = await account.table().attachments.get(container)
    return row?.served === row?.version && row?.problem === null
  }
  await expect.poll(served, { timeout: 60_000 }).toBe(true)
  expect(await fetchFrom(OTHER)).toContain('answer')
})

it('ends in order: another process need not wait for its lease', { timeout: 120_000 }, async () => {
  expect(await kill('SIGTERM')).toBe(0)
  expect((await account.table().attachments.leader())?.expiresAt).toBe(0)
  startGateway()
  expect(await fetchFrom(OTHER)).toContain('answer')
})
