import { readFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SECURE_OPTIONS, startReadySandbox, startSandbox, type TestSandbox } from './start-sandbox.ts'

interface SignatureVectors {
  readonly sandbox_id: string
  readonly public_key: string
  readonly accepted: readonly { readonly name: string; readonly header: string; readonly method: string; readonly target: string }[]
}
const vectors = JSON.parse(
  readFileSync(new URL('../../../runtime-image/vectors/signatures.json', import.meta.url), 'utf8'),
) as SignatureVectors

let sandbox: TestSandbox
const supervisor = () => sandbox.supervisor
beforeAll(async () => void (sandbox = await startReadySandbox({ limits: { preload: [] } })))
afterAll(() => sandbox[Symbol.asyncDispose]())

const status = async (signature: string | null, method: 'GET' | 'PUT' = 'GET', target = '/files') =>
  (await supervisor().call(method, target, undefined, signature)).status

describe('health', () => {
  it('names the sandbox without a signature, with a different nonce in every sandbox', async () => {
    const health = await supervisor().health()
    expect(health).toMatchObject({ v: 1, sandbox_id: sandbox.id, state: 'ready', kernel: 'idle', kernel_generation: 1, refused: [] })
    expect(health.python).toMatch(/^3\.13\./)
    expect(health.boot_nonce.length).toBeGreaterThanOrEqual(16)
  })

  it('refuses a wait that is no number', async () => {
    expect((await supervisor().call('GET', '/health?wait=soon', undefined, null)).status).toBe(400)
  })
})

describe('a request', () => {
  it('is answered once; its replay is refused', async () => {
    const signature = supervisor().signature('GET', '/files')
    expect([await status(signature), await status(signature)]).toEqual([200, 401])
  })

  it.each<[string, () => string | null]>([
    ['no signature', () => null],
    ['an empty one', () => ''],
    ['one for another method', () => supervisor().signature('DELETE', '/files')],
    ['one for another target', () => supervisor().signature('GET', '/files/a')],
    ['one of more than a minute ago', () => supervisor().signature('GET', '/files', Date.now() - 61_000)],
    ['one of more than a minute ahead', () => supervisor().signature('GET', '/files', Date.now() + 61_000)],
    ['one of another sandbox', () => vectors.accepted[0]?.header ?? null],
    ['one with a short nonce', () => supervisor().signature('GET', '/files', Date.now(), 'short')],
  ])('with %s is refused with 401', async (_name, signature) => {
    const answer = await supervisor().call('GET', '/files', undefined, signature())
    expect([answer.status, JSON.parse(answer.body.toString()).error.code]).toEqual([401, 'unauthorized'])
  })

  it('is refused before its body is read', async () => {
    expect(await status(supervisor().signature('GET', '/files'), 'PUT', '/files/a')).toBe(401)
    expect((await supervisor().call('GET', '/files/a')).status).toBe(404)
  })

  it.each([
    ['GET', '/nothing'],
    ['POST', '/files'],
    ['DELETE', '/files'],
    ['PUT', '/executions'],
    ['GET', '/executions/a/b'],
    ['GET', '/'],
  ])('to %s %s is answered with 404', async (method, target) => {
    expect((await supervisor().call(method, target)).status).toBe(404)
  })

  it('that is not HTTP ends only its connection', async () => {
    const path = await socketPath()
    for (const text of [
      '\0\0\0\r\n\r\n',
      'GET /health HTTP/1.1\r\nContent-Length: -1\r\n\r\n',
      `GET /${'x'.repeat(100_000)}`,
      'GET /health HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n',
    ]) {
      const answered = Promise.withResolvers<void>()
      const socket = createConnection(path, () => socket.write(text))
        .on('close', answered.resolve)
        .on('error', answered.resolve)
        .resume()
      await answered.promise
    }
    expect((await supervisor().health()).state).toBe('ready')
  })
})

describe('a sandbox', () => {
  it('ends soon after SIGTERM with code 0, also during a cell that never ends', async () => {
    await using short = await startReadySandbox({ limits: { preload: [] } })
    const running = short.supervisor
      .run('import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass')
      .catch(() => undefined)
    await expect.poll(async () => (await short.supervisor.health()).kernel).toBe('busy')
    const asked = Date.now()
    await short.docker('kill', '--signal=TERM', short.name)
    expect((await short.ended()).code).toBe(0)
    expect(Date.now() - asked).toBeLessThan(20_000)
    await running
  })

  it('listens on TCP at the configured address, with the checks of its profile', async () => {
    const options = [...SECURE_OPTIONS.filter((option) => !/network|no-new-privileges|pids-limit/.test(option)), '--network=bridge']
    await using remote = await startSandbox({
      options,
      profile: 'fargate',
      limits: { preload: [] },
      environment: { CELLBLOCK_LISTEN: 'tcp:0.0.0.0:8700' },
    })
    const ask = 'import urllib.request; print(urllib.request.urlopen("http://127.0.0.1:8700/health?wait=20000").read().decode())'
    await expect
      .poll(() => remote.docker('exec', remote.name, 'python3', '-c', ask).catch(() => ''), { timeout: 20_000 })
      .toContain(`"sandbox_id":"${remote.id}","state":"ready"`)
  })

  it.each([
    ['a missing id', { CELLBLOCK_SANDBOX_ID: '' }],
    ['a key that is none', { CELLBLOCK_PUBLIC_KEY: 'AAAA' }],
    ['an unknown profile', { CELLBLOCK_PROFILE: 'none' }],
    ['limits that are no JSON', { CELLBLOCK_LIMITS: '{' }],
    ['an unknown limit', { CELLBLOCK_LIMITS: '{"speed":1}' }],
    ['nowhere to listen', { CELLBLOCK_LISTEN: 'unix:/nowhere/s' }],
  ])('with %s ends with code 88 and says why', async (_name, environment) => {
    await using broken = await startSandbox({ environment })
    const { code, errors } = await broken.ended()
    expect([code, errors]).toEqual([88, expect.stringMatching(/^cellblock: .+\n$/)])
  })
})

async function socketPath(): Promise<string> {
  const mounts = JSON.parse(await sandbox.docker('inspect', '--format', '{{json .Mounts}}', sandbox.name)) as readonly {
    readonly Source: string
    readonly Destination: string
  }[]
  return `${mounts.find((mount) => mount.Destination === '/run/cellblock/control')?.Source}/supervisor.sock`
}
