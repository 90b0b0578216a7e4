import { afterAll, beforeAll, beforeEach, expect, inject, it } from 'vitest'
import { startMirror, type Mirror } from '../../support/mirror.ts'
import { ensureNetworkClientsImage } from '../../support/network-clients-image.ts'
import { startNetwork, type TestNetwork } from './start-network.ts'

const HOST = 'api.example.com'
const OTHER = 'other.example.com'
const FETCH = `
import urllib.request
def fetch(url):
    try:
        return urllib.request.urlopen(url, timeout=60).read().decode()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
`

/** What code sees of a connection that ended before or after the head of the answer. */
const CUT = /^(RemoteDisconnected|IncompleteRead|ConnectionResetError|URLError)/

let mirror: Mirror
/** Slow answers that have begun. */
let slow = 0
let network: TestNetwork

beforeAll(async () => {
  mirror = await startMirror([HOST, OTHER], ({ url }, response) => {
    response.write('begin ')
    if (url === '/slow') slow += 1
    // A slow answer, so that the gateway can be killed while it runs.
    setTimeout(() => response.end('end'), url === '/slow' ? 3_000 : 0)
  })
  const at = { address: '127.0.0.1', port: mirror.port }
  network = await startNetwork(
    { rules: [{ host: HOST }] },
    { [HOST]: at, [OTHER]: at },
    { image: await ensureNetworkClientsImage(inject('sandboxImage')) },
  )
  await network.run(FETCH)
})
beforeEach(() => network.attach({ rules: [{ host: HOST }] }))
afterAll(async () => {
  await network?.[Symbol.asyncDispose]()
  await mirror[Symbol.asyncDispose]()
})

const fetch = async (host: string, path = '/'): Promise<string> =>
  (await network.run(`print(fetch("https://${host}${path}"))`)).stdout.trim()
/** Resolves when the process has ended, and its connections with it. */
async function kill(): Promise<void> {
  const { pid } = network.gateway
  process.kill(Number(pid), 'SIGKILL')
  await expect.poll(() => network.gateway.pid, { interval: 5 }).not.toBe(pid)
}

it('serves a container in its own process', async () => {
  expect(await fetch(HOST)).toBe('begin end')
})

it('is closed after it was killed, and serves again with the same policy', async () => {
  const before = network.gateway.pid
  await kill()
  // Code waits for the gateway for some seconds instead of failing.
  expect(await fetch(HOST)).toBe('begin end')
  expect(network.gateway.pid).not.toBe(before)
  expect(await fetch(OTHER)).toContain(`This container may not reach ${OTHER}.`)
})

it('ends a request that runs when it is killed, and never leaves its host open', async () => {
  const before = slow
  const running = fetch(HOST, '/slow')
  await expect.poll(() => slow).toBe(before + 1)
  await kill()
  expect(await running).toMatch(CUT)
  expect(await fetch(HOST)).toBe('begin end')
})

it('applies a new policy at once, in both directions', async () => {
  await network.attach({ rules: [{ host: OTHER }] })
  expect(await fetch(HOST)).toContain(`This container may not reach ${HOST}.`)
  expect(await fetch(OTHER)).toBe('begin end')
  await kill()
  expect(await fetch(HOST)).toContain(`This container may not reach ${HOST}.`)
  await network.attach({ rules: [{ host: HOST }] })
  expect(await fetch(HOST)).toBe('begin end')
})

it('ends every connection of a detached container', async () => {
  await network.gateway.detach('cntr_test')
  expect(await fetch(HOST)).toContain('The network gateway does not answer.')
  await network.attach({ rules: [{ host: HOST }] })
  expect(await fetch(HOST)).toBe('begin end')
})

it('has its rest of the answer cut when the policy is removed meanwhile', async () => {
  const before = slow
  const running = fetch(HOST, '/slow')
  await expect.poll(() => slow).toBe(before + 1)
  await network.attach({ rules: [] })
  expect(await running).toMatch(CUT)
})

it('keeps running with the connections that many programs hold', async () => {
  const run = await network.run(`
import socket
held = [socket.create_connection(("127.0.0.1", 3128)) for _ in range(60)]
refused = sum(1 for one in held[48:] if one.recv(100).startswith(b"HTTP/1.1 503 This sandbox has 48"))
for one in held:
    one.close()
print(refused)`)
  expect(run.stdout.trim()).toBe('12')
  // The ends of those connections arrive one after the other.
  await expect.poll(() => fetch(HOST)).toBe('begin end')
})
