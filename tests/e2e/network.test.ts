import { execFile } from 'node:child_process'
import { glob, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'
import { internetAuthority, startMirror, type Mirror } from '../support/mirror.ts'
import { callNative, type NativeClient } from '../support/native-client.ts'
import { ensureNetworkClientsImage } from '../support/network-clients-image.ts'

const HOST = 'api.example.com'
const OTHER = 'other.example.com'
const INDEX = `https://${HOST}/simple`
const ADMIN = 'ak_test_0123456789abcdef0123456789'
const VALUE = 'sk-live-0123456789'
const run = promisify(execFile)
const FETCH = (host: string) => `
import os, urllib.request
try:
    print(urllib.request.urlopen(urllib.request.Request("https://${host}/x", headers={"X-Key": os.environ.get("TOKEN", "")}), timeout=60).read().decode())
except Exception as error:
    print(error)`

let folder: string
let mirror: Mirror
let server: LocalServerProcess
let api: NativeClient
const keys: string[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-network-e2e-'))
  await writeFile(join(folder, 'ca.pem'), (await internetAuthority()).certificate)
  mirror = await startMirror([HOST, OTHER], (request, response) => {
    keys.push(String(request.headers['x-key']))
    response.end(`reached ${request.url === '/echo' ? keys.at(-1) : request.headers.host}`)
  })
  server = await startServer({
    env: {
      CELLBLOCK_SANDBOX_IMAGE: await ensureNetworkClientsImage(inject('sandboxImage')),
      CELLBLOCK_ADMIN_KEY: ADMIN,
      CELLBLOCK_NETWORK: 'on',
      CELLBLOCK_NETWORK_CA: join(folder, 'ca.pem'),
      CELLBLOCK_NETWORK_PRIVATE_HOSTS: [HOST, OTHER].map((host) => `${host}=127.0.0.1:${mirror.port}`).join(','),
      CELLBLOCK_NETWORK_PIP_INDEX: INDEX,
      CELLBLOCK_IDLE_SECONDS: '5',
      CELLBLOCK_POOL: '0',
    },
  })
  const admin = server.as(ADMIN)
  const tenant = await admin.json<{ id: string }>('POST', '/v1/admin/tenants', {
    name: 'networked',
    network: { ceiling: { allow: [{ host: HOST }, { host: OTHER }], presets: [] } },
  })
  const key = await admin.json<{ api_key: string }>('POST', `/v1/admin/tenants/${tenant.id}/keys`, {
    name: 'test',
    scopes: ['run', 'read', 'secrets'],
  })
  api = callNative(server.url, key.api_key)
})
afterAll(async () => {
  await server?.stop()
  await mirror[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** The number of sandboxes of this server. */
const sandboxes = async (): Promise<number> =>
  (await run('docker', ['ps', '-aq', '--filter', `label=cellblock.stage=${server.stage}`])).stdout.split('\n').filter(Boolean).length
const put = (id: string, policy: unknown) => api.call('PUT', `/v1/containers/${id}/network`, policy)

it('gives code the hosts of its policy, follows changes of it, and again after hibernation', async () => {
  const id = await api.createContainer()
  expect((await api.run(id, FETCH(HOST))).stdout).toMatch(/not known|resolution|no network/i)
  expect((await put(id, { allow: [{ host: HOST }] })).status).toBe(200)
  expect((await api.run(id, FETCH(HOST))).stdout).toBe(`reached ${HOST}\n`)
  const refused = await api.run(id, FETCH(OTHER))
  expect(refused.stdout).toContain(`This container may not reach ${OTHER}.`)
  const named = { what: `request to ${OTHER}`, reason: expect.stringContaining(`This container may not reach ${OTHER}.`) as string }
  expect(refused).toMatchObject({ network: { requests: 1, refused: 1 }, lost: [named] })
  const events: unknown[] = []
  for await (const { event, data } of api.events(refused.id)) if (event === 'network') events.push(data)
  expect(events).toMatchObject([{ requests: 1, refused: 1 }])
  await put(id, { allow: [{ host: OTHER }] })
  expect((await api.run(id, FETCH(HOST))).stdout).toContain(`This container may not reach ${HOST}.`)
  await expect.poll(sandboxes, { timeout: 60_000, interval: 500 }).toBe(0)
  expect((await api.run(id, FETCH(OTHER))).stdout).toBe(`reached ${OTHER}\n`)
})

it('sends a secret that code sees as a placeholder only', async () => {
  expect((await api.call('PUT', '/v1/secrets/TOKEN', { hosts: [HOST], value: VALUE })).status).toBe(200)
  const id = await api.createContainer()
  await put(id, { allow: [{ host: HOST }], secrets: ['TOKEN'] })
  keys.length = 0
  const execution = await api.run(
    id,
    `${FETCH(HOST)}\nprint(os.environ["TOKEN"].startswith("cellblock-secret-TOKEN-"), os.environ["PIP_INDEX_URL"])`,
  )
  expect(execution.stdout).toBe(`reached ${HOST}\nTrue ${INDEX}\n`)
  expect(keys).toEqual([VALUE])
})

/** Sends the secret, reads it back masked and looks for the value in its own memory. The pattern does not match itself. */
const SEARCH = `
import os, re, urllib.request
echo = urllib.request.urlopen(urllib.request.Request("https://${HOST}/echo", headers={"X-Key": os.environ["TOKEN"]})).read()
value, control, own = re.compile(rb"sk-liv[e]-01"), re.compile(rb"reached [*]{18}"), open("/proc/self/mem", "rb", 0)
found = []
for line in open("/proc/self/maps"):
    start, end = (int(part, 16) for part in line.split()[0].split("-"))
    for at in range(start, end, 1 << 24) if " rw" in line else ():
        try:
            own.seek(at); memory = own.read(min(1 << 24, end - at) + 64)
        except (OSError, ValueError):
            continue
        found += [name for name, pattern in (("value", value), ("answer", control)) if pattern.search(memory)]
print(echo.decode(), sorted(set(found)))
open("/mnt/data/echo.txt", "wb").write(echo)`

it('the value of a secret is in no memory of the sandbox, snapshot, file, row or line of the log', async () => {
  await api.call('PUT', '/v1/secrets/TOKEN', { hosts: [HOST], value: VALUE })
  const id = await api.createContainer()
  await put(id, { allow: [{ host: HOST }], secrets: ['TOKEN'] })
  const execution = await api.run(id, SEARCH)
  expect(execution).toMatchObject({ status: 'succeeded', stdout: `reached ${'*'.repeat(VALUE.length)} ['answer']\n` })
  await expect.poll(sandboxes, { timeout: 60_000, interval: 500 }).toBe(0)
  let bytes = 0
  for await (const file of glob(`${server.dataDir}/**`)) {
    if (!(await stat(file)).isFile()) continue
    const content = await readFile(file)
    bytes += content.length
    expect(content.includes(VALUE), file).toBe(false)
  }
  expect(bytes).toBeGreaterThan(100_000)
  expect(server.said()).not.toContain(VALUE)
  expect((await api.run(id, 'print(open("/mnt/data/echo.txt").read(), echo == open("/mnt/data/echo.txt", "rb").read())')).stdout).toContain(
    'True',
  )
})
