import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { LIMITS } from '../../../services/model/limits.ts'
import { finishExecution } from '../../support/finish-execution.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

/** A tenant gets a quarter: space for one file operation at a time. */
const BUDGET = 4 * 200_000
let api: TestApi
/** Bytes that the object store has received. */
let received = 0
beforeAll(async () => {
  api = await startApi({
    config: { maxResultBytesInFlight: BUDGET },
    wrapObjects: (objects) => ({
      ...objects,
      put(key, body, ...rest) {
        async function* counted(): AsyncGenerator<Uint8Array, void, undefined> {
          for await (const chunk of body instanceof Uint8Array ? [body] : body) {
            received += chunk.byteLength
            yield chunk
          }
        }
        return objects.put(key, counted(), ...rest)
      },
    }),
  })
})
afterAll(() => api.stop())

class Sandbox {
  readonly containerId: string
  readonly #headers: Record<string, string>
  private constructor({ sandboxID, envdAccessToken }: { sandboxID: string; envdAccessToken: string }) {
    this.containerId = `cntr_${sandboxID.slice(0, 26)}`
    this.#headers = { 'e2b-sandbox-id': sandboxID, 'x-access-token': envdAccessToken }
  }
  static async create(): Promise<Sandbox> {
    const answer = await fetch(`${api.url}/e2b/v2/sandboxes`, { method: 'POST', headers: { 'x-api-key': api.owner.key } })
    return new Sandbox((await answer.json()) as { sandboxID: string; envdAccessToken: string })
  }
  call(path: string | null, init: RequestInit & { duplex?: 'half' } = {}): Promise<Response> {
    const query = path === null ? '' : `?path=${encodeURIComponent(path)}`
    return fetch(`${api.url}/e2b/files${query}`, { ...init, headers: { ...this.#headers, ...(init.headers as Record<string, string>) } })
  }
  send(body: BodyInit, path: string | null = null, headers: Record<string, string> = {}): Promise<Response> {
    return this.call(path, { method: 'POST', body, headers, duplex: 'half' })
  }
  async paths(): Promise<readonly string[]> {
    const answer = await api.fetch(`/v1/containers/${this.containerId}/files`)
    return ((await answer.json()) as { data: readonly { path: string }[] }).data.map(({ path }) => path).toSorted()
  }
  /** Bytes of the container's files in the object store. */
  stored(): Promise<number> {
    return api.objects.sizeOf(`tenants/${api.owner.tenant}/${this.containerId}/`)
  }
  /** The oldest command that has not ended, except this one. */
  async command(other?: string): Promise<string> {
    const { tenant } = api.owner
    const pending = async (): Promise<string | undefined> => {
      const { commands = [] } = (await api.table.containers.get(tenant, this.containerId)) ?? {}
      return commands.find((id) => id !== other)
    }
    await expect.poll(pending, { timeout: 5_000 }).toBeDefined()
    return (await pending()) ?? ''
  }
  /** Ends a command, as a worker does. */
  async answer(id: string, stdout: string, status: 'succeeded' | 'failed' = 'succeeded'): Promise<void> {
    const { tenant } = api.owner
    await api.table.containers.removeCommand(tenant, this.containerId, { commandId: id, now: api.now() })
    await finishExecution(api, tenant, id, { result: { stdout }, patch: { status } })
  }
}

const form = (...files: readonly (readonly [string, string])[]): FormData => {
  const data = new FormData()
  for (const [name, text] of files) data.append('file', new File([text], name))
  return data
}
const BOUNDARY = { 'content-type': 'multipart/form-data; boundary=x' }
const part = (name: string): string => `--x\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`
const refusal = async (answer: Promise<Response>): Promise<unknown> => [(await answer).status, await (await answer).json()]

it('stores the files of a form under their names, in the order of the form', async () => {
  const sandbox = await Sandbox.create()
  const answer = await sandbox.send(form(['/home/user/a.txt', 'one'], ['deep/b "ü" 50%.txt', 'two'], ['a.txt', 'three']))
  expect([answer.status, await answer.json()]).toEqual([
    200,
    [
      { name: 'a.txt', path: '/home/user/a.txt', type: 'file' },
      { name: 'b "ü" 50%.txt', path: '/home/user/deep/b "ü" 50%.txt', type: 'file' },
      { name: 'a.txt', path: '/home/user/a.txt', type: 'file' },
    ],
  ])
  expect(await (await sandbox.call('a.txt')).text()).toBe('three')
  expect(await (await sandbox.call('deep/b "ü" 50%.txt')).text()).toBe('two')
  const named = await sandbox.send(form(['x', 'four']), 'named.txt')
  expect([named.status, await (await sandbox.call('named.txt')).text()]).toEqual([200, 'four'])
})

it('stores the part of a form without a file name under the path of the call', async () => {
  const sandbox = await Sandbox.create()
  const data = new FormData()
  data.append('file', 'x'.repeat(20_000))
  const answer = await sandbox.send(data, 'nameless.txt')
  expect([answer.status, await answer.json()]).toEqual([200, [{ name: 'nameless.txt', path: '/home/user/nameless.txt', type: 'file' }]])
  expect(await (await sandbox.call('nameless.txt')).text()).toBe('x'.repeat(20_000))
})

it('writes below the folders of the root that lead to the home folder', async () => {
  const sandbox = await Sandbox.create()
  const answer = await sandbox.send(form(['/workspace/deep/a.txt', 'one'], ['/app/b.txt', 'two']))
  expect(await answer.json()).toMatchObject([{ path: '/workspace/deep/a.txt' }, { path: '/app/b.txt' }])
  expect(await sandbox.paths()).toEqual(['/mnt/data/b.txt', '/mnt/data/deep/a.txt'])
  expect(await (await sandbox.call('/home/user/deep/a.txt')).text()).toBe('one')
})

it('gives the files of a call the metadata of its headers', async () => {
  const sandbox = await Sandbox.create()
  const sent = sandbox.send(form(['a.txt', 'one']), null, { 'x-metadata-author': 'ann' })
  await sandbox.answer(await sandbox.command(), JSON.stringify({ annotated: 1 }))
  expect(await (await sent).json()).toEqual([{ name: 'a.txt', path: '/home/user/a.txt', type: 'file', metadata: { author: 'ann' } }])
  for (const headers of [{ 'x-metadata-a': 'ü' }, { 'x-metadata-a': 'x'.repeat(5_000) }, { [`x-metadata-${'a'.repeat(250)}`]: 'x' }])
    expect(await refusal(sandbox.send(form(['b.txt', 'two']), null, headers))).toMatchObject([400, { code: 400 }])
  expect(await sandbox.paths()).toEqual(['/mnt/data/a.txt'])
})

it('stores a file of a form while its bytes arrive', async () => {
  const sandbox = await Sandbox.create()
  let rest: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(Buffer.from(part('large.bin') + 'x'.repeat(1_000_000)))
      rest = controller
    },
  })
  const before = received
  const sent = sandbox.send(body, null, BOUNDARY)
  await expect.poll(() => received - before).toBeGreaterThan(500_000)
  rest?.enqueue(Buffer.from('\r\n--x--\r\n'))
  rest?.close()
  expect((await sent).status).toBe(200)
  expect(await (await sandbox.call('large.bin')).arrayBuffer()).toMatchObject({ byteLength: 1_000_000 })
})

it('stores no file of a form that it refuses', async () => {
  const sandbox = await Sandbox.create()
  const many = form(...Array.from({ length: 101 }, (_, number) => [`${number}.txt`, 'x'] as const))
  const whole = `${part('a.txt')}one\r\n--x--\r\n`
  for (const [what, status, answer] of [
    ['a name that is too long', 400, () => sandbox.send(form(['a.txt', 'one'], ['x'.repeat(LIMITS.maxPathBytes + 1), 'two']))],
    ['a reserved name', 400, () => sandbox.send(form(['a.txt', 'one'], ['con', 'two'], ['c.txt', 'three']))],
    ['a file without a name', 400, () => sandbox.send(`${part('a.txt')}one\r\n${part('')}two\r\n--x--\r\n`, null, BOUNDARY)],
    ['too many files', 400, () => sandbox.send(many)],
    ['no file', 400, () => sandbox.send(form())],
    ['no end', 400, () => sandbox.send(whole.slice(0, -10), null, BOUNDARY)],
    ['an end inside a part', 400, () => sandbox.send(`${part('a.txt')}one\r\n${part('b.txt')}two`, null, BOUNDARY)],
    ['no boundary', 400, () => sandbox.send(whole, null, { 'content-type': 'multipart/form-data' })],
    ['no body', 400, () => sandbox.call(null, { method: 'POST', headers: BOUNDARY })],
    ['a compressed form', 415, () => sandbox.send(gzipSync(whole), null, { ...BOUNDARY, 'content-encoding': 'gzip' })],
  ] as const) {
    expect(await refusal(answer()), what).toMatchObject([status, { code: status, message: expect.stringMatching(/\.$/) }])
    expect([await sandbox.paths(), await sandbox.stored()], what).toEqual([[], 0])
  }
})

it('unpacks a compressed body, and refuses one that is not', async () => {
  const sandbox = await Sandbox.create()
  const headers = { 'content-type': 'application/octet-stream', 'content-encoding': 'gzip' }
  expect((await sandbox.send(gzipSync('packed'), 'a.txt', headers)).status).toBe(200)
  expect(await (await sandbox.call('a.txt')).text()).toBe('packed')
  expect(await refusal(sandbox.send('packed', 'b.txt', headers))).toMatchObject([400, { code: 400 }])
  expect(await sandbox.paths()).toEqual(['/mnt/data/a.txt'])
})

it('brings a large file outside /mnt/data into the sandbox as a stored file, and keeps none', async () => {
  const sandbox = await Sandbox.create()
  const headers = { 'content-type': 'application/octet-stream' }
  const carried = { data: [{ path: expect.stringMatching(/^\/mnt\/data\/\.upload-/) }] }
  for (const status of ['succeeded', 'failed'] as const) {
    const sent = sandbox.send('x'.repeat(150_000), '/tmp/a.txt', headers)
    const command = await sandbox.command()
    expect(await (await api.fetch(`/v1/containers/${sandbox.containerId}/files`)).json()).toMatchObject(carried)
    await sandbox.answer(command, '', status)
    expect((await sent).status).toBe(status === 'succeeded' ? 200 : 400)
    expect([await sandbox.paths(), await sandbox.stored()]).toEqual([[], 0])
  }
  const small = sandbox.send('small', '/tmp/b.txt', headers)
  const command = await sandbox.command()
  expect(await sandbox.paths()).toEqual([])
  await sandbox.answer(command, '')
  expect(await (await small).json()).toEqual([{ name: 'b.txt', path: '/tmp/b.txt', type: 'file' }])
})

it('reads a file outside /mnt/data in pieces, and counts it while it is in memory', async () => {
  const sandbox = await Sandbox.create()
  const piece = (bytes: number): string => JSON.stringify({ data: Buffer.alloc(bytes, 'x').toString('base64'), bytes: 3_000 })
  const first = sandbox.call('/tmp/a.txt')
  await sandbox.answer(await sandbox.command(), piece(1_000))
  const command = await sandbox.command()
  const second = refusal(sandbox.call('/tmp/b.txt'))
  // While a command runs, files are copied before they are read.
  await sandbox.answer(await sandbox.command(command), '')
  expect(await second).toMatchObject([429, { code: 429 }])
  await sandbox.answer(command, piece(1_000))
  // The file has become shorter.
  await sandbox.answer(await sandbox.command(), piece(0))
  const answer = await first
  expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, '2000', 'x'.repeat(2_000)])
})
