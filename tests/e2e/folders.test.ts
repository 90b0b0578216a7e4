import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

interface WireEntry {
  readonly path: string
  readonly name: string
  readonly type: string
  readonly bytes: number
  readonly mode: string
}

let server: LocalServerProcess
let container: string
beforeAll(async () => {
  server = await startServer({ env: { SANDBOX_PRELOAD: '' } })
  container = await server.native.createContainer()
})
afterAll(() => server.stop())

const at = (rest = ''): string => `/v1/containers/${container}/entries${rest}`
const json = <T>(method: string, path: string, body?: unknown): Promise<T> => server.native.json<T>(method, path, body)
const pathsOf = async (rest: string): Promise<readonly string[]> =>
  (await json<{ data: readonly WireEntry[] }>('GET', at(rest))).data.map(({ path }) => path)

describe('file operations in a sandbox', () => {
  it('makes, lists, moves and removes folders, and keeps the list of files in step', async () => {
    await server.native.run(container, 'import os; os.makedirs("a/b"); open("a/b/t.csv", "w").write("x;y\\n1;2\\n3;4\\n")')
    expect(await pathsOf('?path=.&depth=3')).toEqual(['/mnt/data/a', '/mnt/data/a/b', '/mnt/data/a/b/t.csv'])
    expect(await json<WireEntry>('POST', at(), { path: 'empty' })).toMatchObject({ type: 'folder', mode: '0755' })

    const moved = await json<WireEntry>('POST', at('/move'), { from: 'a/b/t.csv', to: 'c/u.csv' })
    expect(moved).toMatchObject({ path: '/mnt/data/c/u.csv', bytes: 12 })
    const files = await json<{ data: readonly { path: string }[] }>('GET', `/v1/containers/${container}/files`)
    expect(files.data.map(({ path }) => path)).toEqual(['/mnt/data/c/u.csv'])

    expect(await json('DELETE', at('?path=a&recursive=true'))).toMatchObject({ removed: 2 })
    expect(await pathsOf('?path=.')).toEqual(['/mnt/data/c', '/mnt/data/empty'])
  })

  it('reads a range and previews a table', async () => {
    expect(await json('GET', at('/range?path=c/u.csv&offset=4&length=3'))).toMatchObject({ data: 'MTsy', bytes: 12 })
    expect(await json('GET', at('/preview?path=c/u.csv&rows=1'))).toMatchObject({
      kind: 'table',
      preview: { columns: ['x', 'y'], rows: [['1', '2']], is_truncated: true },
    })
  })

  it('unpacks an uploaded archive', async () => {
    await server.native.run(container, 'import zipfile\nwith zipfile.ZipFile("in.zip", "w") as z: z.writestr("docs/read.me", "hello")')
    const unpacked = await json('POST', at('/unpack'), { path: 'in.zip', into: 'out', remove_archive: true })
    expect(unpacked).toMatchObject({ files: 1, paths: ['/mnt/data/out/docs/read.me'] })
    const { stdout } = await server.native.run(container, 'import os; print(open("out/docs/read.me").read(), os.path.exists("in.zip"))')
    expect(stdout).toBe('hello False\n')
  })

  it('names unpacked files that are not kept, and finds names of Macs in either Unicode form', async () => {
    const write =
      'import zipfile\nwith zipfile.ZipFile("mac.zip", "w") as z:\n  for name in ("Bu\\u0308cher.txt", "\\u06af\\u0632\\u0627\\u0631\\u0634\\u200c\\u0647\\u0627.csv", "Acme Inc./a.csv"): z.writestr(name, "x")'
    await server.native.run(container, write)
    const unpacked = await json<{ files: number; lost: readonly { what: string; reason: string }[] }>('POST', at('/unpack'), {
      path: 'mac.zip',
      into: 'mac',
    })
    expect(unpacked).toMatchObject({
      files: 3,
      lost: [{ what: 'file "mac/Acme Inc./a.csv"', reason: expect.stringContaining('ends in a dot') as string }],
    })
    const { data } = await json<{ data: readonly { path: string }[] }>('GET', `/v1/containers/${container}/files?limit=100`)
    const paths = data.map(({ path }) => path)
    expect(paths).toEqual(
      expect.arrayContaining(['/mnt/data/mac/B\u00fccher.txt', '/mnt/data/mac/\u06af\u0632\u0627\u0631\u0634\u200c\u0647\u0627.csv']),
    )
    for (const name of ['B\u00fccher.txt', 'Bu\u0308cher.txt'])
      expect(await json('GET', at(`/info?path=${encodeURIComponent(`mac/${name}`)}`))).toMatchObject({ type: 'file', bytes: 1 })
  })

  it('works outside /mnt/data with the rights of user code', async () => {
    expect(await json('POST', at(), { path: '/home/worker/project' })).toMatchObject({ path: '/home/worker/project' })
    expect((await server.native.call('POST', at(), { path: '/etc/cellblock/x' })).status).toBe(409)
  })

  it.each([
    ['GET', '/info?path=missing', undefined, 404, 'file_not_found'],
    ['DELETE', '?path=c', undefined, 409, 'conflict'],
    ['DELETE', '?path=/mnt/data&recursive=true', undefined, 409, 'conflict'],
    ['POST', '/move', { from: 'c', to: 'c/d' }, 400, 'invalid_file_name'],
    ['GET', '?path=c/u.csv', undefined, 409, 'conflict'],
  ])('refuses %s %s', async (method, rest, body, status, code) => {
    const answer = await server.native.call(method, at(rest), body)
    expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([status, code])
  })

  it('answers a container of another tenant like a missing one', async () => {
    const answer = await server.native.call('GET', `/v1/containers/cntr_01kajv9h2s8p0ww3d4dq4cs1zt/entries?path=.`)
    expect(answer.status).toBe(404)
  })
})
